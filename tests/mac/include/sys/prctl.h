#error "a Mac has no <sys/prctl.h>"
