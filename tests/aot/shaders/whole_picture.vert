// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One triangle over the whole picture.
#version 450

void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0);
}
