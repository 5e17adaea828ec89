// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of fmt that are no templates, and those templates that its headers leave to its library: for what does
// without libfmt.so (smelt_runtime.cmake). fmt_inside_check.cpp shows whether something is missing here.
#include <fmt/format-inl.h>

template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal<float>(float) noexcept;
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal<double>(double) noexcept;
#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::basic_string_view<char>,
                                            fmt::detail::vformat_args<char>::type, fmt::detail::locale_ref);
#endif
