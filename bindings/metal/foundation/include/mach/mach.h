/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pages of the program by Mach's names, over mmap. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int kern_return_t;
typedef unsigned vm_map_t;
typedef unsigned mach_port_t;
typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;
typedef uint64_t mach_vm_address_t;
typedef uint64_t mach_vm_size_t;
#define KERN_SUCCESS 0
#define KERN_INVALID_ADDRESS 1
#define KERN_NO_SPACE 3
#define VM_FLAGS_FIXED 0
#define VM_FLAGS_ANYWHERE 1
#define vm_page_size ((vm_size_t)getpagesize())

/** Stands for the calling program, the only task that the functions below take. */
static inline vm_map_t mach_task_self(void) {
  return 1;
}

/** Zeroed pages somewhere; other flags than VM_FLAGS_ANYWHERE are refused. */
static inline kern_return_t vm_allocate(vm_map_t task, vm_address_t* address, vm_size_t size, int flags) {
  (void)task;
  if (flags != VM_FLAGS_ANYWHERE) return KERN_INVALID_ADDRESS;
  void* at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return KERN_NO_SPACE;
  *address = (vm_address_t)at;
  return KERN_SUCCESS;
}
static inline kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size) {
  (void)task;
  return munmap((void*)address, size) == 0 ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}
