#error "a Mac has no <malloc.h>"
