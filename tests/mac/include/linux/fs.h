#error "a Mac has no <linux/fs.h>"
