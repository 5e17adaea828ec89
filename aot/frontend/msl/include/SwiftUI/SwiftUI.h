/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <SwiftUI/SwiftUI.h>: in Metal source, <SwiftUI/SwiftUI_Metal.h>.
#ifndef __SMELT_SWIFTUI_H
#define __SMELT_SWIFTUI_H

#include <SwiftUI/SwiftUI_Metal.h>

#endif
