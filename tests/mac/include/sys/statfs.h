#error "a Mac has no <sys/statfs.h>"
