#error "a Mac has no <sys/sendfile.h>"
