// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One point over the whole picture. A triangle would be clipped into several, whose edges cut quads.
#version 450

void main() {
  gl_Position = vec4(0.0, 0.0, 0.5, 1.0);
  gl_PointSize = 64.0;
}
