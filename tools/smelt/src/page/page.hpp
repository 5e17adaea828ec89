// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports as one page: a file that needs no server and nothing from outside. The values lie in it as JSON, and its
// script (page.js) shows them: a list that can be searched, whose entries are drawn when they are opened. What is only
// drawn then is deflated: the code of 500 kernels is 240 MB of text, and browsers unpack a kernel in milliseconds.
#pragma once

#include "inspect_report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smelt::cli {

struct Page {
  std::string title;
  Json data;  ///< what is always shown; "kind" says by which part of the script: "diff", "explain" or "store"
  std::vector<std::string> parts;  ///< of an entry each, and read when it is opened: packed_part()
};

/// The value as the page holds it: JSON by zlib, in base64. No memory is std::bad_alloc.
std::string packed_part(const Json& value);

/// A page as bytes and back, for what is read in another process. `corrupt` when parts are other than packed.
Bytes write_page(const Page& page);
Result<Page> read_page(ByteView bytes);

/// The page as HTML. Whatever the values hold stays text: nothing in them can end the JSON or become markup.
std::string page_as_html(const Page& page);

extern const std::string_view kPageStyle, kPageScript;

}  // namespace smelt::cli
