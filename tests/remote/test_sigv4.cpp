// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// s3rver knows Signature Version 4 by name only, so what libcurl signs is worked out again here, after AWS' own
// description ("Signature Calculations for the Authorization Header").
#include "smelt/remote/remote.hpp"

#include "entries.hpp"
#include "fault_server.hpp"

#include <doctest/doctest.h>
#include <nettle/hmac.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;

namespace {

Digest hmac(ByteView key, std::string_view text) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), reinterpret_cast<const uint8_t*>(key.data()));
  hmac_sha256_update(&context, text.size(), reinterpret_cast<const uint8_t*>(text.data()));
  Digest digest;
  hmac_sha256_digest(&context, digest.bytes.size(), reinterpret_cast<uint8_t*>(digest.bytes.data()));
  return digest;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  if (begin == std::string::npos) return {};
  return text.substr(begin + from.size(), text.find(to, begin + from.size()) - begin - from.size());
}

/// The signature that a request's own headers call for.
std::string expected_signature(const std::string& request, const std::string& secret) {
  std::map<std::string, std::string> headers;
  std::istringstream lines(request);
  std::string first, line;
  std::getline(lines, first);
  while (std::getline(lines, line) && line != "\r") {
    std::string name = line.substr(0, line.find(':'));
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    headers[name] = line.substr(line.find(':') + 2, line.size() - line.find(':') - 3);
  }
  const std::string authorization = headers["authorization"];
  const std::string signed_headers = between(authorization + ",", "SignedHeaders=", ",");
  const std::string scope = between(authorization + ",", "Credential=", ",");
  std::istringstream names(signed_headers);
  std::string canonical = first.substr(0, first.find(' ')) + "\n" + between(first, " ", " ") + "\n\n", name;
  while (std::getline(names, name, ';')) canonical += name + ":" + headers[name] + "\n";
  canonical += "\n" + signed_headers + "\n" + headers["x-amz-content-sha256"];
  // SCOPE is ID/date/region/service/aws4_request
  std::vector<std::string> words;
  std::istringstream pieces(scope);
  for (std::string word; std::getline(pieces, word, '/');) words.push_back(word);
  REQUIRE(words.size() == 5);
  Digest key = hmac(as_bytes("AWS4" + secret), words[1]);
  for (size_t i = 2; i < 5; ++i) key = hmac(key.bytes, words[i]);
  const std::string text = "AWS4-HMAC-SHA256\n" + headers["x-amz-date"] + "\n" + scope.substr(scope.find('/') + 1) +
                           "\n" + to_hex(sha256(as_bytes(canonical)));
  return to_hex(hmac(key.bytes, text));
}

}  // namespace

TEST_CASE("s3 requests carry AWS' signature over the method, the path and the body's hash") {
  std::mutex mutex;
  std::vector<std::string> requests;
  const FaultServer server([&](FaultServer::Connection& connection) {
    const std::lock_guard lock(mutex);
    requests.push_back(connection.request);
    const bool put = connection.request.starts_with("PUT");
    connection.send(put ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                        : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "a secret/with+signs", 1);
  ::setenv("AWS_SESSION_TOKEN", "a-session", 1);
  const auto address = parse_address("s3://kernels/some/prefix?region=eu-central-1&endpoint=" + server.url()).value();
  const auto remote = Remote::open(address).value();
  Outgoing entry = entry_of(1);
  entry.parts.resize(1);
  entry.parts[0].bytes.resize(100);
  const auto put = remote->put(std::span(&entry, 1));
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ::unsetenv("AWS_SESSION_TOKEN");
  CHECK(put);
  const std::lock_guard lock(mutex);
  REQUIRE(requests.size() >= 3);  // HEAD and PUT of the blob, PUT of the record
  for (const std::string& request : requests) {
    CAPTURE(request);
    const std::string given = between(request, "Signature=", "\r\n");
    CHECK(given.size() == 64);
    CHECK(given == expected_signature(request, "a secret/with+signs"));
    CHECK(between(request, "SignedHeaders=", ",").find("x-amz-content-sha256") != std::string::npos);
    CHECK(between(request, "SignedHeaders=", ",").find("x-amz-security-token") != std::string::npos);
    CHECK(request.find("/kernels/some/prefix/") != std::string::npos);
  }
  // The hash is that of the bytes that were sent.
  CHECK(requests[1].find("x-amz-content-sha256: " + to_hex(sha256(entry.parts[0].bytes))) != std::string::npos);
}
