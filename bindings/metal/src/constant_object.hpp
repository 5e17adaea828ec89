// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Metal/MTLLibrary.hpp"
#include "constant_values.hpp"
#include "validation.hpp"

namespace smelt::metal {

class ConstantValuesObject final : public MTL::FunctionConstantValues {
 public:
  ConstantSet set;
  std::string_view class_name() const override { return "MTLFunctionConstantValues"; }

 protected:
  NS::Object* make_copy() override {
    auto* made = new ConstantValuesObject;
    made->set = set;
    return made;
  }
};

inline const ConstantSet& set_of(const MTL::FunctionConstantValues* values) {
  return static_cast<const ConstantValuesObject*>(values)->set;
}

}  // namespace smelt::metal
