/* SPDX-License-Identifier: MIT */
/* Linux 6.14 to 7.2 offers a child these features, through new flags of known actions and calls.
 * Older kernels reject the flags. Each test notes what this kernel does; a newer kernel must know
 * the flag. */
#include "observe.h"

/* Returns true if the kernel is at least the given version of Linux, and no emulator. */
static bool kernel_is(int major, int minor)
{
	struct psys_utsname name;
	int version[2] = { 0, 0 };

	CHECK_EQUAL(psys_uname(&name), 0);
	const char *at = name.release;
	for (int i = 0; i < 2; i++, at += *at == '.')
		for (; *at >= '0' && *at <= '9'; at++)
			version[i] = version[i] * 10 + (*at - '0');
	return !is_emulated() &&
	       (version[0] > major || (version[0] == major && version[1] >= minor));
}

/* Linux 7.1 makes a mount namespace without mounts, so the program is not found any more. */
TEST(unshare_can_give_an_empty_mount_namespace)
{
	struct observation seen =
		observe((const struct aspawn_action[]){ ASPAWN_UNSHARE(PSYS_UNSHARE_EMPTY_MNTNS) },
			1, "no_new_privs");
	const bool empty =
		seen.failure.step == ASPAWN_STEP_EXEC || seen.failure.step == ASPAWN_STEP_SEARCH;

	if (is_emulated())
		skip("an emulator executes itself");
	note("kernel has empty mount namespaces:", empty);
	CHECK_EQUAL(seen.result, -PSYS_ECANCELED);
	CHECK(empty || psys_geteuid() || !kernel_is(7, 2));
	if (empty)
		CHECK_EQUAL(seen.failure.error, -PSYS_ENOENT);
	else
		CHECK(seen.failure.error == -PSYS_EINVAL || seen.failure.error == -PSYS_EPERM);
}

/* Linux 6.14 added the bits, for interpreters that ask. */
TEST(securebits_can_restrict_scripts)
{
	struct observation seen = observe(
		(const struct aspawn_action[]){ ASPAWN_SECUREBITS(
			PSYS_SECBIT_EXEC_RESTRICT_FILE | PSYS_SECBIT_EXEC_DENY_INTERACTIVE) },
		1, "securebits");

	note("kernel restricts scripts:", seen.result == 0);
	CHECK(seen.result == 0 || psys_geteuid() || !kernel_is(6, 14));
	if (seen.result == 0)
		CHECK_EQUAL(psys_strcmp(seen.text, "1280"), 0);
	else
		CHECK(seen.failure.error == -PSYS_EPERM || seen.failure.error == -PSYS_EINVAL);
}

/* Linux 6.14. */
TEST(execveat_can_check_a_program_without_executing_it)
{
	struct self self;
	char *const none[] = { (char[]){ "none" }, NULL };

	self_in_role(&self, "exit_7", NULL);
	int r = psys_execveat(PSYS_AT_FDCWD, self.file, none, none, PSYS_AT_EXECVE_CHECK);
	note("kernel checks programs by execveat:", r == 0);
	CHECK(r == 0 || !kernel_is(6, 14));
	if (r != 0) /* otherwise it would have been executed */
		CHECK(r == -PSYS_EINVAL || r == -PSYS_ENOSYS);
	else
		CHECK_EQUAL(psys_execveat(PSYS_AT_FDCWD, "/", none, none, PSYS_AT_EXECVE_CHECK),
			    -PSYS_EACCES);
}

/* Linux 6.14. */
TEST(signals_can_be_sent_to_oneself_without_a_pidfd)
{
	int r = psys_pidfd_send_signal(PSYS_PIDFD_SELF_THREAD_GROUP, 0, NULL, 0);

	note("kernel has PIDFD_SELF:", r == 0);
	CHECK(r == 0 || !kernel_is(6, 15));
	CHECK(r == 0 || r == -PSYS_EBADF || r == -PSYS_ENOSYS || r == -PSYS_EINVAL);
	CHECK_EQUAL(psys_pidfd_send_signal(PSYS_PIDFD_SELF_THREAD, 0, NULL, 0), r);
}
