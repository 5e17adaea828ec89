; y[i] = a * x[i] + y[i], as a GPU compiler would write it: opaque pointers, address space 1, scalars by value.
target triple = "spir64-unknown-unknown"

declare i64 @_Z13get_global_idj(i32)

define spir_kernel void @saxpy(ptr addrspace(1) readonly %x, ptr addrspace(1) %y, float %a, i32 %n) {
entry:
  %id = call i64 @_Z13get_global_idj(i32 0)
  %i = trunc i64 %id to i32
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %body, label %exit

body:
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %id
  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %id
  %vx = load float, ptr addrspace(1) %px, align 4
  %vy = load float, ptr addrspace(1) %py, align 4
  %ax = fmul float %a, %vx
  %sum = fadd float %ax, %vy
  store float %sum, ptr addrspace(1) %py, align 4
  br label %exit

exit:
  ret void
}
