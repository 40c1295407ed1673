extern const char *host;
extern struct aspawn_pool pool;
