#error "a Mac has no <sys/epoll.h>"
