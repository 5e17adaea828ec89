/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts about the machine by the names that macOS gives them. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/**
 * Of hw.memsize (bytes), hw.pagesize, hw.ncpu, hw.logicalcpu, hw.physicalcpu, hw.activecpu: an integer of 4 or 8 bytes,
 * as *old_size says. With a null `old` only *old_size is set. Returns 0, or -1 with errno: ENOENT for every other name,
 * ENOMEM where the number does not fit, EPERM for an attempt to set one.
 */
static inline int sysctlbyname(const char* name, void* old, size_t* old_size, void* new_value, size_t new_size) {
  uint64_t value = 0;
  const int is_cpu = strcmp(name, "hw.ncpu") == 0 || strcmp(name, "hw.logicalcpu") == 0 ||
                     strcmp(name, "hw.physicalcpu") == 0 || strcmp(name, "hw.activecpu") == 0;
  if (strcmp(name, "hw.memsize") == 0) {
    value = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  } else if (strcmp(name, "hw.pagesize") == 0) {
    value = (uint64_t)sysconf(_SC_PAGESIZE);
  } else if (is_cpu) {
    value = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
  } else {
    errno = ENOENT;
    return -1;
  }
  if (new_value != NULL || new_size != 0) {
    errno = EPERM;
    return -1;
  }
  if (old_size == NULL) return 0;
  if (old == NULL) {
    *old_size = is_cpu ? sizeof(uint32_t) : sizeof(uint64_t);
  } else if (*old_size >= sizeof(uint64_t)) {
    memcpy(old, &value, sizeof(value));
    *old_size = sizeof(value);
  } else if (*old_size >= sizeof(uint32_t) && value <= UINT32_MAX) {
    const uint32_t narrow = (uint32_t)value;
    memcpy(old, &narrow, sizeof(narrow));
    *old_size = sizeof(narrow);
  } else {
    errno = ENOMEM;
    return -1;
  }
  return 0;
}
