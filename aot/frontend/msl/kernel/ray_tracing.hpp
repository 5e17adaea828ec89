// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What intersectors and intersection queries do, in AIR's operations (docs/formats/air.md 3.15):
//
//   call void @smelt.air.get_candidate_object_to_world_transform_intersection_query(ptr %all, ptr %q, i32 3)
//   ->   %r = call { <3 x float>, <3 x float>, <3 x float>, <3 x float> }
//                 @air.get_candidate_object_to_world_transform_intersection_query.instancing.triangle_data(ptr %q)
//        ; each column goes where <metal_raytracing> has it
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// Replaces the neutral calls of <metal_raytracing>, where everything is inlined. Errors: compile_failed when the tags
/// of a call are not known, which is a fault of the header.
Result<void> lower_ray_tracing(llvm::Module& module);

}  // namespace smelt::aot::msl
