// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// s3://bucket/prefix: HTTP with requests signed by libcurl (AWS Signature Version 4). Each body's SHA-256 goes into the
// signature, so what arrives is what was sent even where TLS ends before the bucket.
#include "smelt/base/files.hpp"

#include "environment.hpp"
#include "transports.hpp"

#include <cstdlib>
#include <filesystem>

namespace smelt::remote {
namespace {

struct Credentials {
  std::string id, secret, session;
};

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

/// The profile's section of an AWS credentials file: lines `name = value` below `[profile]`.
Credentials from_file(std::string_view text, const std::string& profile) {
  Credentials found;
  bool ours = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[')) ours = line == "[" + profile + "]";
    const size_t equals = line.find('=');
    if (!ours || equals == line.npos) continue;
    const std::string name = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (name == "aws_access_key_id") found.id = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.session = value;
  }
  return found;
}

Result<Credentials> find_credentials(const Address& address) {
  Credentials found{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                    environment("AWS_SESSION_TOKEN")};
  if (!found.id.empty() && !found.secret.empty()) return found;
  std::string profile = environment("AWS_PROFILE");
  if (profile.empty()) profile = "default";
  std::string file = environment("AWS_SHARED_CREDENTIALS_FILE");
  if (file.empty()) file = environment("HOME") + "/.aws/credentials";
  if (const auto bytes = read_file(file)) found = from_file(as_text(*bytes), profile);
  if (!found.id.empty() && !found.secret.empty()) return found;
  return fail(Errc::invalid_argument,
              "remote {}: no credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, nor for profile '{}' in {}",
              address.shown, profile, file);
}

}  // namespace

Result<std::unique_ptr<Transport>> make_s3_transport(const Address& address) {
  SMELT_TRY(const Credentials credentials, find_credentials(address));
  std::string region = address.region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (region.empty()) region = environment(name);
  if (region.empty()) region = "us-east-1";
  std::string endpoint = address.endpoint.empty() ? environment("AWS_ENDPOINT_URL_S3") : address.endpoint;
  while (!endpoint.empty() && endpoint.back() == '/') endpoint.pop_back();

  HttpTarget target;
  if (endpoint.empty())
    target.base = fmt::format("https://{}.s3.{}.amazonaws.com{}", address.host, region, address.path);
  else  // other people's S3 rarely has a name for each bucket
    target.base = fmt::format("{}/{}{}", endpoint, address.host, address.path);
  target.user_password = credentials.id + ":" + credentials.secret;
  target.sigv4 = fmt::format("aws:amz:{}:s3", region);
  if (!credentials.session.empty()) target.headers.push_back("x-amz-security-token: " + credentials.session);
  Address with = address;
  with.tls = target.base.starts_with("https:");
  return make_http_transport(with, std::move(target));
}

}  // namespace smelt::remote
