TARGETS += x32
x32.triple := x86_64-linux-gnux32
x32.cflags := -fcf-protection=full
