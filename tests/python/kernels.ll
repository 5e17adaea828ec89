; The kernels that the Python tests call, as plain GPU-style IR.
target triple = "spir64-unknown-unknown"
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z14get_local_sizej(i32)
declare i64 @_Z12get_local_idj(i32)
declare void @_Z7barrierj(i32)

; y[i] += a * x[i]
define spir_kernel void @saxpy(ptr addrspace(1) %x, ptr addrspace(1) %y, float %a) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %id
  %q = getelementptr inbounds float, ptr addrspace(1) %y, i64 %id
  %v = load float, ptr addrspace(1) %p, align 4
  %w = fmul float %v, %a
  %o = load float, ptr addrspace(1) %q, align 4
  %r = fadd float %w, %o
  store float %r, ptr addrspace(1) %q, align 4
  ret void
}

; out[i] = argument[i], byte by byte: what was bound
define spir_kernel void @peek(ptr addrspace(1) %out, ptr addrspace(2) %argument) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds i8, ptr addrspace(2) %argument, i64 %id
  %q = getelementptr inbounds i8, ptr addrspace(1) %out, i64 %id
  %v = load i8, ptr addrspace(2) %p, align 1
  store i8 %v, ptr addrspace(1) %q, align 1
  ret void
}

; The same with the argument in front, so that `threads` is counted from it.
define spir_kernel void @close(ptr addrspace(2) %argument, ptr addrspace(1) %out) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %id
  store i32 1, ptr addrspace(1) %p, align 4
  ret void
}

; visits[x + width * (y + height * z)] += 1, and the group's x extent beside it
define spir_kernel void @visit(ptr addrspace(1) %visits, ptr addrspace(1) %sizes, i32 %width, i32 %height) {
  %x = call i64 @_Z13get_global_idj(i32 0)
  %y = call i64 @_Z13get_global_idj(i32 1)
  %z = call i64 @_Z13get_global_idj(i32 2)
  %w = zext i32 %width to i64
  %h = zext i32 %height to i64
  %hz = mul i64 %h, %z
  %row = add i64 %hz, %y
  %before = mul i64 %row, %w
  %at = add i64 %before, %x
  %p = getelementptr inbounds i32, ptr addrspace(1) %visits, i64 %at
  %old = load i32, ptr addrspace(1) %p, align 4
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(1) %p, align 4
  %size = call i64 @_Z14get_local_sizej(i32 0)
  %small = trunc i64 %size to i32
  %q = getelementptr inbounds i32, ptr addrspace(1) %sizes, i64 %at
  store i32 %small, ptr addrspace(1) %q, align 4
  ret void
}

; out[i] = the sum of element i of two arrays whose addresses lie in a table
define spir_kernel void @gather(ptr addrspace(1) %table, ptr addrspace(1) %out) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %second = getelementptr inbounds ptr addrspace(1), ptr addrspace(1) %table, i64 1
  %a = load ptr addrspace(1), ptr addrspace(1) %table, align 8
  %b = load ptr addrspace(1), ptr addrspace(1) %second, align 8
  %pa = getelementptr inbounds float, ptr addrspace(1) %a, i64 %id
  %pb = getelementptr inbounds float, ptr addrspace(1) %b, i64 %id
  %va = load float, ptr addrspace(1) %pa, align 4
  %vb = load float, ptr addrspace(1) %pb, align 4
  %sum = fadd float %va, %vb
  %q = getelementptr inbounds float, ptr addrspace(1) %out, i64 %id
  store float %sum, ptr addrspace(1) %q, align 4
  ret void
}

; Reverses each group of 64 through threadgroup memory whose length is given at the call.
define spir_kernel void @reverse(ptr addrspace(1) %x, ptr addrspace(3) %shared) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %lane = call i64 @_Z12get_local_idj(i32 0)
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %id
  %v = load i32, ptr addrspace(1) %p, align 4
  %s = getelementptr inbounds i32, ptr addrspace(3) %shared, i64 %lane
  store i32 %v, ptr addrspace(3) %s, align 4
  call void @_Z7barrierj(i32 1)
  %other = sub i64 63, %lane
  %t = getelementptr inbounds i32, ptr addrspace(3) %shared, i64 %other
  %r = load i32, ptr addrspace(3) %t, align 4
  store i32 %r, ptr addrspace(1) %p, align 4
  ret void
}

; A while of work in one thread: x[0] = the sum of 0 ... n-1 in a chain of multiplications that cannot be folded
define spir_kernel void @spin(ptr addrspace(1) %x, i32 %n) {
entry:
  %start = load i32, ptr addrspace(1) %x, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = phi i32 [ %start, %entry ], [ %mixed, %loop ]
  %times = mul i32 %v, 1664525
  %mixed = add i32 %times, 1013904223
  %next = add i32 %i, 1
  %done = icmp uge i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  store i32 %mixed, ptr addrspace(1) %x, align 4
  ret void
}

; A kernel may be called what it likes.
define spir_kernel void @info(ptr addrspace(1) %x) {
  store i32 7, ptr addrspace(1) %x, align 4
  ret void
}
