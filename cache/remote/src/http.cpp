// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// http://, https://: the layout of Bazel's HTTP cache, over libcurl. One Transport is one pool of kept-alive
// connections: where the server speaks HTTP/2 all requests share one, else up to kConnections run side by side.
#include "smelt/base/foreign_text.hpp"

#include "curl_handles.hpp"
#include "transports.hpp"
#include "waiting.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::remote {
namespace {

constexpr size_t kConnections = 16;  // HTTP/1.1
constexpr size_t kStreams = 1024;    // HTTP/2: libcurl asks for fewer at a time where the server allows fewer

constexpr uint64_t kMostBesides = uint64_t{256} << 10;  // of one answer: headers, and a page that explains an error

enum class Method : uint8_t { get, put, head };

/// All requests of one call.
struct Call {
  Waiting waiting;
  uint64_t left = 0;  ///< bytes that its answers may still have
  std::optional<std::chrono::system_clock::time_point> date;
};

/// One request, on its way and done.
struct Request {
  Method method = Method::get;
  Name name;
  uint64_t most = 0;  ///< get
  ByteView body;      ///< put
  size_t sent = 0;
  unsigned depth = 0;  ///< how many requests waited for each other, this one included

  bool done = false;
  CURLcode code = CURLE_OK;
  long status = 0;
  Bytes received;
  bool too_long = false;   ///< more than was asked for
  bool call_full = false;  ///< more than the call may have
  uint64_t besides = 0;    ///< bytes of headers, and of pages that nobody reads

  Easy easy{nullptr, curl().easy_cleanup};
  HeaderList headers{nullptr, curl().slist_free_all};
  Call* call = nullptr;
  char detail[CURL_ERROR_SIZE] = {};
};

/// libcurl keeps headers, so a server that sends them without end is cut off.
bool is_too_much(Request& request, size_t count) {
  request.besides += count;
  return request.besides > kMostBesides;
}

size_t take_bytes(char* bytes, size_t, size_t count, void* to) {
  auto& request = *static_cast<Request*>(to);
  request.call->waiting.moved(count);
  long status = 0;
  curl().easy_getinfo(request.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status / 100 != 2) return is_too_much(request, count) ? 0 : count;  // a page that explains an error
  request.too_long = request.received.size() + count > request.most;
  request.call_full = !request.too_long && count > request.call->left;
  if (request.too_long || request.call_full) return 0;
  request.call->left -= count;
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  request.received.insert(request.received.end(), begin, begin + count);
  return count;
}

size_t take_header(char* bytes, size_t, size_t count, void* to) {
  auto& request = *static_cast<Request*>(to);
  request.call->waiting.moved(count);
  if (is_too_much(request, count)) return 0;
  const std::string_view line(bytes, count);
  constexpr std::string_view kDate = "date:";
  if (count > kDate.size() && curl().strnequal(bytes, kDate.data(), kDate.size()) == 1) {
    const std::string text(line.substr(kDate.size()));
    if (const time_t at = curl().getdate(text.c_str(), nullptr); at > 0)
      request.call->date = std::chrono::system_clock::from_time_t(at);
  }
  return count;
}

size_t give_bytes(char* bytes, size_t, size_t room, void* from) {
  auto& request = *static_cast<Request*>(from);
  const size_t count = std::min(room, request.body.size() - request.sent);
  request.call->waiting.moved(count);
  std::memcpy(bytes, request.body.data() + request.sent, count);
  request.sent += count;
  return count;
}

int rewind_bytes(void* of, curl_off_t to, int origin) {
  auto& request = *static_cast<Request*>(of);
  if (origin != SEEK_SET || to < 0 || static_cast<size_t>(to) > request.body.size()) return CURL_SEEKFUNC_FAIL;
  request.sent = static_cast<size_t>(to);
  return CURL_SEEKFUNC_OK;
}

class HttpTransport : public Transport {
 public:
  HttpTransport(Address address, HttpTarget target)
      : address_(std::move(address)), target_(std::move(target)), multi_(nullptr, curl().multi_cleanup) {}

  Fetched get(std::span<const Want> wants, const Patience& patience) override {
    std::vector<Request> requests(wants.size());
    for (size_t i = 0; i < wants.size(); ++i) {
      requests[i].name = wants[i].name;
      requests[i].most = wants[i].most;
    }
    Fetched fetched;
    fetched.trouble = run(requests, patience, fetched.round_trips);
    for (Request& request : requests) {
      Got& got = fetched.got.emplace_back();
      if (request.too_long)
        got.outcome = Got::Outcome::damaged;
      else if (!request.done || request.code != CURLE_OK)
        continue;
      else if (request.status == 200)
        got = {Got::Outcome::found, std::move(request.received)};
      else if (is_absent(request.status))
        got.outcome = Got::Outcome::absent;
    }
    return fetched;
  }

  Stored put(std::span<const Item> items, const Patience& patience) override {
    std::vector<Request> requests(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      requests[i].method = Method::put;
      requests[i].name = items[i].name;
      requests[i].body = items[i].bytes;
    }
    Stored stored;
    stored.trouble = run(requests, patience, stored.round_trips);
    for (const Request& request : requests)
      stored.count += request.done && request.code == CURLE_OK && request.status / 100 == 2;
    return stored;
  }

  std::vector<bool> has(std::span<const Name> names, const Patience& patience) override {
    std::vector<Request> requests(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      requests[i].method = Method::head;
      requests[i].name = names[i];
    }
    unsigned round_trips = 0;
    run(requests, patience, round_trips);
    std::vector<bool> found;
    for (const Request& request : requests)
      found.push_back(request.done && request.code == CURLE_OK && request.status == 200);
    return found;
  }

  std::optional<std::chrono::system_clock::time_point> server_time() const override { return date_; }
  std::string certificate_ends() const override { return certificate_ends_; }

 private:
  static bool is_absent(long status) { return status == 404 || status == 403 || status == 410; }

  /// Runs them all, or until the first that says something about the server rather than about itself.
  std::optional<Trouble> run(std::span<Request> requests, const Patience& patience, unsigned& round_trips) {
    if (!multi_) {
      multi_.reset(curl().multi_init());
      curl().multi_setopt(multi_.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
      curl().multi_setopt(multi_.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, static_cast<long>(kStreams));
      curl().multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(kConnections));
    }
    std::optional<Trouble> trouble;
    Call call;
    call.left = patience.most_bytes;
    size_t next = 0, active = 0;
    unsigned depth = 1;
    while (!trouble && (active > 0 || next < requests.size())) {
      for (; next < requests.size() && active < width_; ++next, ++active) start(requests[next], call, depth, patience);
      int running = 0;
      curl().multi_perform(multi_.get(), &running);
      int left = 0;
      while (const CURLMsg* message = curl().multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        Request* request = nullptr;
        curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request);
        depth = std::max(depth, request->depth + 1);
        round_trips = std::max(round_trips, request->depth);
        --active;
        finish(*request, message->data.result);
        ++call.waiting.answered;
        if (!trouble) trouble = trouble_of(*request, patience);
      }
      if (trouble || active == 0) continue;
      // Until something was sent or received the connect limit rules, which libcurl watches itself.
      if (const auto why = call.waiting.over(patience, patience.connect)) trouble = trouble_with(*why);
      if (!trouble) curl().multi_poll(multi_.get(), nullptr, 0, 20, nullptr);
    }
    for (Request& request : requests)
      if (!request.done && request.easy) curl().multi_remove_handle(multi_.get(), request.easy.get());
    if (call.date) date_ = call.date;
    return trouble;
  }

  Trouble trouble_with(std::string_view what) const {
    return Trouble{{Errc::io, fmt::format("{}: {}", address_.shown, what), address_.shown}};
  }

  void start(Request& request, Call& call, unsigned depth, const Patience& patience) {
    // A handle of its own: libcurl 7.88 keeps a pointer to a header of a handle's last answer, and an answer whose
    // first header begins with a space is added to that one. Connections belong to the multi handle.
    request.easy = make_easy();
    request.depth = depth;
    request.call = &call;
    CURL* easy = request.easy.get();
    set_connection(easy, address_, patience);
    set_request(easy, request);
    curl().multi_add_handle(multi_.get(), easy);
  }

  void set_request(CURL* easy, Request& request) {
    const std::string url = target_.base + "/" + to_path(request.name);
    curl().easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl().easy_setopt(easy, CURLOPT_PRIVATE, &request);
    curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, request.detail);
    curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    // Never from https to http.
    curl().easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, address_.tls ? "https" : "http,https");
    curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, follows(request) ? 1L : 0L);
    curl().easy_setopt(easy, CURLOPT_MAXREDIRS, 3L);
    curl().easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    // With TLS: wait whether the first connection turns out to carry many requests.
    curl().easy_setopt(easy, CURLOPT_PIPEWAIT, address_.tls ? 1L : 0L);
    curl().easy_setopt(easy, CURLOPT_CERTINFO, address_.tls && certificate_ends_.empty() ? 1L : 0L);
    curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &take_bytes);
    curl().easy_setopt(easy, CURLOPT_WRITEDATA, &request);
    curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &take_header);
    curl().easy_setopt(easy, CURLOPT_HEADERDATA, &request);
    set_credentials(easy);
    curl_slist* headers = nullptr;
    for (const std::string& header : target_.headers) headers = curl().slist_append(headers, header.c_str());
    if (request.method == Method::head) curl().easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (request.method == Method::put) {
      curl().easy_setopt(easy, CURLOPT_UPLOAD, 1L);
      curl().easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl().easy_setopt(easy, CURLOPT_READFUNCTION, &give_bytes);
      curl().easy_setopt(easy, CURLOPT_READDATA, &request);
      curl().easy_setopt(easy, CURLOPT_SEEKFUNCTION, &rewind_bytes);
      curl().easy_setopt(easy, CURLOPT_SEEKDATA, &request);
      headers = curl().slist_append(headers, "Content-Type: application/octet-stream");
      headers = curl().slist_append(headers, "Expect:");
    }
    if (!target_.sigv4.empty())
      headers = curl().slist_append(
          headers, fmt::format("x-amz-content-sha256: {}",
                               to_hex(sha256(request.method == Method::put ? request.body : ByteView())))
                       .c_str());
    request.headers.reset(headers);
    curl().easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  }

  /// libcurl keeps a bearer token and a password from another host. Headers of ours and a certificate it shows to every
  /// host that it is sent to: with those nothing is followed, so that S3 follows nothing.
  bool follows(const Request& request) const {
    return request.method != Method::put && target_.headers.empty() && target_.sigv4.empty() &&
           address_.cert_file.empty();
  }

  void set_credentials(CURL* easy) {
    if (!target_.bearer.empty()) {
      curl().easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, target_.bearer.c_str());
      curl().easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    } else if (!target_.user_password.empty()) {
      curl().easy_setopt(easy, CURLOPT_USERPWD, target_.user_password.c_str());
      if (target_.sigv4.empty())
        curl().easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      else
        curl().easy_setopt(easy, CURLOPT_AWS_SIGV4, target_.sigv4.c_str());
    }
  }

  void finish(Request& request, CURLcode code) {
    CURL* easy = request.easy.get();
    curl().easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &request.status);
    long version = 0;
    curl().easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
    if (version == CURL_HTTP_VERSION_2_0) width_ = kStreams;
    if (address_.tls && certificate_ends_.empty()) note_certificate(easy);
    curl_off_t retry = 0;
    curl().easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry);
    retry_after_ = std::chrono::seconds(retry);
    request.code = code;
    request.done = true;
    curl().multi_remove_handle(multi_.get(), easy);
    request.easy.reset();
    request.headers.reset();
  }

  void note_certificate(CURL* easy) {
    const curl_certinfo* info = nullptr;
    if (curl().easy_getinfo(easy, CURLINFO_CERTINFO, &info) != CURLE_OK || !info || info->num_of_certs == 0) return;
    constexpr std::string_view kEnds = "Expire date:";
    for (const curl_slist* line = info->certinfo[0]; line; line = line->next)
      if (std::string_view(line->data).starts_with(kEnds)) certificate_ends_ = one_line(line->data + kEnds.size());
  }

  /// What the answer says about the server. Absent and too long are answers about the thing asked for.
  std::optional<Trouble> trouble_of(const Request& request, const Patience& patience) const {
    const bool writing = request.method == Method::put;
    if (request.call_full) return trouble_with("more bytes than one call may transfer");
    if (request.too_long) return std::nullopt;
    if (request.besides > kMostBesides) return trouble_with("headers or an error page without an end");
    if (request.code != CURLE_OK) return Trouble{curl_error(address_, request.code, request.detail, patience)};
    const long status = request.status;
    if (status / 100 == 2 || (!writing && is_absent(status))) return std::nullopt;
    if (request.method == Method::head && status / 100 == 4 && status != 429) return std::nullopt;
    Trouble trouble;
    trouble.rest_now = status >= 400;
    trouble.writes_only = writing && status != 429 && status != 500 && status != 502 && status != 503 && status != 504;
    if (retry_after_.count() > 0) trouble.retry_after = retry_after_;
    const char* hint =
        status == 401                    ? "; it needs credentials: token-file=, user:password@, cert-file="
        : status == 403 && writing       ? "; these credentials may not write: add read-only to the URL, or use others"
        : status == 405 || status == 501 ? "; it does not accept PUT: is WebDAV switched on?"
        : writing && (status == 409 || status == 404) ? "; on a WebDAV server, create the folders 'ac' and 'cas' first"
        : status == 413 || status == 507              ? "; it has no room for this"
        : status / 100 == 3 ? "; a redirect is not followed if it could carry credentials along"
                            : "";
    trouble.error = {Errc::io,
                     fmt::format("{}: answered {} to {} {}{}", address_.shown, status,
                                 writing                          ? "PUT"
                                 : request.method == Method::head ? "HEAD"
                                                                  : "GET",
                                 to_path(request.name), hint),
                     address_.shown};
    return trouble;
  }

  Address address_;
  HttpTarget target_;
  Multi multi_;
  size_t width_ = kConnections;
  std::chrono::seconds retry_after_{0};
  std::optional<std::chrono::system_clock::time_point> date_;
  std::string certificate_ends_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_http_transport(const Address& address, HttpTarget target) {
  return std::make_unique<HttpTransport>(address, std::move(target));
}

Result<std::unique_ptr<Transport>> make_http_transport(const Address& address) {
  HttpTarget target;
  target.base = address.shown;
  if (!address.token_file.empty()) {
    SMELT_TRY(target.bearer, read_token(address.token_file));
  }
  if (!address.user.empty()) target.user_password = address.user + ":" + address.password;
  return make_http_transport(address, std::move(target));
}

}  // namespace smelt::remote
