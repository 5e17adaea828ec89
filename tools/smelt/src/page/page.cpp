// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "page/page.hpp"

#include "smelt/base/base64.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <span>

namespace smelt::cli {
namespace {

/// JSON in a script element: ASCII without what HTML could see.
std::string embedded(const Json& value) {
  std::string text;
  for (const char c : value.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&')
      text += fmt::format("\\u{:04x}", c);
    else
      text += c;
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
  }
  return out;
}

}  // namespace

std::string packed_part(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::vector<unsigned char> bytes(compressBound(text.size()));
  uLongf size = bytes.size();
  if (compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(), 6) != Z_OK)
    throw std::bad_alloc();  // the one way to fail with room for the bound
  return to_base64(std::as_bytes(std::span(bytes).first(size)));
}

Bytes write_page(const Page& page) {
  const Json all = {
      {"title", is_utf8(page.title) ? page.title : printable(page.title)}, {"data", page.data}, {"parts", page.parts}};
  return to_bytes(as_bytes(all.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

Result<Page> read_page(ByteView bytes) {
  const auto wrong = [] { return fail(Errc::corrupt, "the child process that read the file returned no page"); };
  // Our pages nest a handful deep; writing JSON takes stack for each.
  const auto is_shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < 32; };
  Json all = Json::parse(as_text(bytes), is_shallow, false);
  if (!all.is_object() || !all.contains("data") || !all.contains("title") || !all["title"].is_string() ||
      !all.contains("parts") || !all["parts"].is_array())
    return wrong();
  Page page{.title = all["title"], .data = std::move(all["data"]), .parts = {}};
  for (const Json& part : all["parts"]) {
    if (!part.is_string()) return wrong();
    const std::string& text = part.get_ref<const std::string&>();
    const auto is_packed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/' || c == '='; };
    if (!std::all_of(text.begin(), text.end(), is_packed)) return wrong();
    page.parts.push_back(text);
  }
  return page;
}

std::string page_as_html(const Page& page) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<main id=\"page\"></main>\n<noscript>This page needs JavaScript; the script is in the page.</noscript>\n",
      escaped(is_utf8(page.title) ? page.title : printable(page.title)), kPageStyle);
  html += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", embedded(page.data));
  for (size_t i = 0; i < page.parts.size(); ++i)
    html += fmt::format("<script type=\"text/plain\" id=\"part-{}\">{}</script>\n", i, page.parts[i]);
  html += fmt::format("<script>\n{}</script>\n</body>\n</html>\n", kPageScript);
  return html;
}

}  // namespace smelt::cli
