/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the Objective-C tests check with: a line for what failed, and how many. */
#pragma once
#include <stdio.h>
#include <string.h>

static int failures = 0;
static int checks = 0;
#define CHECK(...)                                                              \
  do {                                                                          \
    ++checks;                                                                   \
    if (!(__VA_ARGS__)) {                                                       \
      ++failures;                                                               \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
    }                                                                           \
  } while (0)

static inline int outcome(void) {
  printf("%d checks, %d failed\n", checks, failures);
  fflush(stdout);
  return failures != 0 || checks == 0;
}
