#error "a Mac has no <linux/futex.h>"
