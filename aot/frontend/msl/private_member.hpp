// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Clang keeps private and we need: an explicit instantiation may name a private member, and this one carries its
// address out.
//
//   struct Tag { using Type = Member Class::*; };   Type address_of(Tag);
//   template struct PrivateMember<Tag, &Class::member>;                      object.*address_of(Tag())
#pragma once

namespace smelt::aot::msl {

template <class Tag, typename Tag::Type Member>
struct PrivateMember {
  friend typename Tag::Type address_of(Tag) { return Member; }
};

}  // namespace smelt::aot::msl
