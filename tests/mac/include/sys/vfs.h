#error "a Mac has no <sys/vfs.h>"
