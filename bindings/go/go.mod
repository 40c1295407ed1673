module aspawn.example/bindings/go

go 1.19
