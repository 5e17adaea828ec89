#error "a Mac has no <sys/eventfd.h>"
