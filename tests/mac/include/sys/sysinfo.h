#error "a Mac has no <sys/sysinfo.h>"
