;;; the unsized array gets its size
; option: threadgroup_memory=4096
; expect: @smem = internal unnamed_addr addrspace(3) global [4096 x i8] undef, align 16
@smem = external addrspace(3) global [0 x i8], align 16
define void @k(ptr %p) "smelt.kernel" {
  store volatile i32 1, ptr addrspace(3) @smem
  ret void
}
;;; from the kernel's attribute
; expect: @smem = internal unnamed_addr addrspace(3) global [512 x i8] undef, align 16
@smem = external addrspace(3) global [0 x i8], align 4
define void @k(ptr %p) #0 {
  store volatile i32 1, ptr addrspace(3) @smem
  ret void
}
attributes #0 = { "smelt.kernel" "smelt.threadgroup_memory"="512" }
;;; or is asked for
; error: --threadgroup-memory
@smem = external addrspace(3) global [0 x i8], align 16
define void @k(ptr %p) "smelt.kernel" {
  store volatile i32 1, ptr addrspace(3) @smem
  ret void
}
;;; unless nobody uses it
; never: @smem
@smem = external addrspace(3) global [0 x i8], align 16
define void @k(ptr %p) "smelt.kernel" {
  ret void
}
;;; more than 32 KiB, of which no pipeline is made
; stop: threadgroup_memory
; expect: @b = internal unnamed_addr addrspace(3) global [32768 x i8] undef
; never: !smelt.cpu_only
@a = internal addrspace(3) global [4 x i8] zeroinitializer
@b = internal addrspace(3) global [32768 x i8] undef, align 4
define void @k(ptr %p) "smelt.kernel" {
  store volatile i8 1, ptr addrspace(3) @a
  store volatile i32 1, ptr addrspace(3) @b
  ret void
}
;;; initial values
; error: with an initial value
@a = internal addrspace(3) global i32 5
define void @k(ptr %p) "smelt.kernel" {
  store volatile i32 1, ptr addrspace(3) @a
  ret void
}
;;; more for the CPU alone
; option: cpu_only
; expect: @b = internal unnamed_addr addrspace(3) global [73728 x i8] undef
; expect: !smelt.cpu_only = !{
@b = internal addrspace(3) global [73728 x i8] undef, align 4
define void @k(ptr %p) "smelt.kernel" {
  store volatile i32 1, ptr addrspace(3) @b
  ret void
}
;;; but not without bound
; option: cpu_only
; error: needs 67108868 bytes of threadgroup memory; the CPU has 67108864
@b = internal addrspace(3) global [67108868 x i8] undef, align 4
define void @k(ptr %p) "smelt.kernel" {
  store volatile i32 1, ptr addrspace(3) @b
  ret void
}
