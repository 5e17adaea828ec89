// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile_list.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/base/base64.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/remote/tiered_store.hpp"

#include "context.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>

namespace smelt::cli {
namespace {

using ListJson = nlohmann::json;

constexpr std::string_view kFormat = "misses 1";

/// A request with the bytes that it borrows.
struct Miss {
  service::Request request;
  std::vector<Bytes> bytes;
  std::string key;
};

template <class... Args>
tl::unexpected<Error> bad(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Errc::invalid_argument, "{}", fmt::format(format, std::forward<Args>(args)...));
}

template <class T>
Result<void> take(const ListJson& value, T& to) {
  try {
    to = value.get<T>();
  } catch (const ListJson::exception&) {
    return bad("a value of another type");
  }
  return {};
}

Result<void> take_targets(const ListJson& value, service::Request& request) {
  std::vector<std::string> names;
  SMELT_TRY_VOID(take(value, names));
  for (const std::string& name : names) {
    SMELT_TRY(request.options.targets.emplace_back(), aot::parse_target(name));
  }
  return {};
}

Result<void> take_language(const ListJson& value, service::Request& request) {
  std::pair<uint16_t, uint16_t> version;
  SMELT_TRY_VOID(take(value, version));
  request.options.language = aot::Version{version.first, version.second, 0};
  return {};
}

Result<void> take_fast_math(const ListJson& value, service::Request& request) {
  bool fast = false;
  SMELT_TRY_VOID(take(value, fast));
  if (fast) request.options.math = aot::kFastMath;
  return {};
}

using Take = std::function<Result<void>(const ListJson&, service::Request&)>;

template <class T>
Take into(T aot::CompileOptions::* member) {
  return [member](const ListJson& value, service::Request& request) { return take(value, request.options.*member); };
}
template <class T>
Take into(std::optional<T> aot::CompileOptions::* member) {
  return [member](const ListJson& value, service::Request& request) {
    return take(value, (request.options.*member).emplace());
  };
}
Take into(std::string service::Request::* member) {
  return [member](const ListJson& value, service::Request& request) { return take(value, request.*member); };
}

/// By the names of smelt.compile's parameters. There is no CPU code among what such machines ask for.
const std::map<std::string_view, Take>& options_by_name() {
  using Options = aot::CompileOptions;
  static const auto table = [] {
    std::map<std::string_view, Take> rows = {
        {"targets", take_targets},
        {"language", take_language},
        {"fast_math", take_fast_math},
        {"metadata", into(&Options::metadata_json)},
#define SMELT_FLAG(member, name, ...) {#name, into(&Options::member)},
#define SMELT_NUMBER(member, type, name, ...) {#name, into(&Options::member)},
#define SMELT_TEXTS(member, one, name, ...) {#name, into(&Options::member)},
#define SMELT_INNER_TEXTS(member)
#include "smelt/aot/options.def"
        {"name", into(&service::Request::name)},
        {"version", into(&service::Request::version)},
    };
    return rows;
  }();
  return table;
}

Result<Bytes> bytes_of(const ListJson& source) {
  if (const auto text = source.find("text"); text != source.end() && text->is_string())
    return to_bytes(as_bytes(text->get_ref<const std::string&>()));
  const auto coded = source.find("base64");
  if (coded == source.end() || !coded->is_string()) return bad("a source has neither 'text' nor 'base64'");
  const auto& text = coded->get_ref<const std::string&>();
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  Bytes bytes(text.size() / 4 * 3 - std::min(padding, text.size() / 4 * 3));
  if (!from_base64(text, bytes)) return bad("the 'base64' of a source is not base64");
  return bytes;
}

Result<Miss> read_miss(const ListJson& entry) {
  if (!entry.is_object() || !entry.contains("key") || !entry["key"].is_string() || !entry.contains("sources") ||
      !entry["sources"].is_array() || entry["sources"].empty())
    return bad("want a 'key' and 'sources'");
  Miss miss;
  miss.key = entry["key"].get<std::string>();
  miss.request.cpu = false;
  for (const ListJson& source : entry["sources"]) {
    if (!source.is_object() || !source.value("name", ListJson("")).is_string())
      return bad("a source is not an object with a name");
    SMELT_TRY(miss.bytes.emplace_back(), bytes_of(source));
  }
  for (size_t i = 0; i < miss.bytes.size(); ++i)
    miss.request.sources.push_back({entry["sources"][i].value("name", std::string("source")), miss.bytes[i]});
  const ListJson options = entry.value("options", ListJson::object());
  if (!options.is_object()) return bad("'options' is not an object");
  for (const auto& [name, value] : options.items()) {
    const auto found = options_by_name().find(name);
    if (found == options_by_name().end()) return bad("option '{}' is not known", printable(name));
    if (auto taken = found->second(value, miss.request); !taken)
      return tl::unexpected(std::move(taken).error().in("option '" + name + "'"));
  }
  miss.request.options.cache_folder = service::precompiled_folder().string();
  return miss;
}

/// Not another machine's compiler: it would look for its own key for ever.
Result<void> check_key(const Miss& miss, const service::RequestKeys& keys) {
  if (to_hex(keys.raw) == miss.key) return {};
  return bad("its key is {} here, the list says {}: a file that it includes has other content or another place here",
             to_hex(keys.raw), printable(miss.key));
}

Result<void> compile_one(const Miss& miss, service::Session& session, remote::TieredStore& store) {
  SMELT_TRY(const service::RequestKeys keys, service::keys_of(miss.request));
  SMELT_TRY_VOID(check_key(miss, keys));
  SMELT_TRY(const service::CompileResult made, session.make(miss.request));
  for (const std::string& warning : made.warnings) Context::warn(warning);
  if (!store.remotes().takes_puts()) return {};
  std::vector<Digest> pushed{keys.raw};
  if (keys.normalised != keys.raw && store.local().indexed(keys.normalised)) pushed.push_back(keys.normalised);
  return store.push(pushed);
}

Result<ListJson> read_list(const std::string& file) {
  SMELT_TRY(const Bytes bytes, read_file(file));
  ListJson list = ListJson::parse(as_text(bytes), nullptr, /*allow_exceptions=*/false);
  if (!list.is_object() || !list.contains("misses") || !list["misses"].is_array())
    return bad("{}: want a list that 'python -m smelt misses -o LIST' wrote", file);
  const std::string format =
      list.value("smelt", ListJson()).is_string() ? list["smelt"].get<std::string>() : std::string();
  if (format != kFormat)
    return fail(Errc::format_newer, "{}: '{}' is not '{}', which this smelt reads", file, printable(format), kFormat);
  const std::string compiler =
      list.value("compiler", ListJson()).is_string() ? list["compiler"].get<std::string>() : "";
  if (compiler != aot::compiler_identity())
    return bad(
        "{}: it was written for the compiler '{}', and this is '{}': what is made here would not be found there. "
        "Install the wheel of this build on the machine that wrote it",
        file, printable(compiler), aot::compiler_identity());
  return list;
}

}  // namespace

Result<bool> compile_list(const std::string& file, const service::SessionOptions& options) {
  SMELT_TRY(const ListJson list, read_list(file));
  const auto session = service::Session::open(options);
  SMELT_TRY(const auto store, session->tiers());
  size_t bad_ones = 0;
  for (size_t i = 0; i < list["misses"].size(); ++i) {
    auto miss = read_miss(list["misses"][i]);
    const auto done = miss ? compile_one(*miss, *session, *store) : Result<void>(tl::unexpected(miss.error()));
    if (done) continue;
    ++bad_ones;
    Context::warn(fmt::format("{}: entry {}: {}", file, i + 1, done.error().message));
  }
  SMELT_TRY_VOID(print(fmt::format("{} compiled or found{}, {} not\n", list["misses"].size() - bad_ones,
                                   store->remotes().takes_puts() ? " and sent" : "", bad_ones)));
  return bad_ones == 0;
}

}  // namespace smelt::cli
