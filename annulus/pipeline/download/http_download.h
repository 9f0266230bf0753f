// Downloads a file by HTTP: resumed where it was cut off, tried again, checked before anybody sees it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "annulus/base/progress.h"

namespace annulus {

struct DownloadRequest {
  std::string address;      // http:// or https://
  std::string what;         // name for progress and errors, e.g. "dino-vits16"
  std::string sha256;       // of the file, or its first eight digits or more; empty: whatever comes is taken
  std::string sha256_from;  // whose checksum it is, for the error when it differs, e.g. "its publisher"
  std::uint64_t bytes = 0;  // length of the file; 0: not known
};

struct DownloadLimits {
  int tries = 3;
  double first_pause_seconds = 1.0;   // before the second try; three times as long before the third
  double connect_seconds = 10.0;      // for one try
  double unreachable_seconds = 12.0;  // for all tries together, as long as nobody has answered
  double stall_seconds = 30.0;        // with less than a thousand bytes a second, after which a try has failed
};

struct Download {
  std::string sha256;  // of the whole file
  std::uint64_t bytes = 0;
};

// Whether nothing may be downloaded: ANNULUS_OFFLINE is set to something else than 0.
bool is_offline();

// The address that is asked: ANNULUS_MIRROR, where it is set, in place of scheme and host. Throws Error{kUsage} if
// ANNULUS_MIRROR or `address` is not an HTTP address.
std::string mirrored(const std::string& address);

// Writes the file at request.address to `target`, which appears only when it is complete, checked and on the disk; a
// file that is there is replaced. What has come so far is kept in `target`.part, also when progress stops the work, and
// the next call goes on from there if the server still has the same file. Of several processes that want the same
// target one downloads and the others wait for it, and then take its file. Proxies come from http_proxy, https_proxy
// and no_proxy, certificates from the system or SSL_CERT_FILE and SSL_CERT_DIR. Throws Error{kIo} with one sentence: no
// answer (within unreachable_seconds), a status such as 404, a stall, a full disk, a wrong length or checksum, or
// ANNULUS_OFFLINE.
Download download_file(const DownloadRequest& request, const std::filesystem::path& target,
                       const ProgressCallback& progress = {}, const DownloadLimits& limits = {});

}  // namespace annulus
