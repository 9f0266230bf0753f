// One transfer by libcurl at a time, and the loop of tries around it.
#include "annulus/pipeline/download/http_download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/pipeline/download/part_file.h"
#include "annulus/store/files/byte_lock.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus {
namespace {

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Where the host of an HTTP address ends; npos: it is none.
std::size_t end_of_host(std::string_view address) {
  std::size_t start = std::string_view::npos;
  if (address.starts_with("https://")) start = 8;
  if (address.starts_with("http://")) start = 7;
  if (start == std::string_view::npos || start >= address.size() || address[start] == '/') {
    return std::string_view::npos;
  }
  return std::min(address.find('/', start), address.size());
}

std::string host_of(const std::string& address) {
  const std::size_t start = address.find("://") + 3;
  return address.substr(start, end_of_host(address) - start);
}

// What one try came to.
struct TransferOutcome {
  bool complete = false;
  bool again = false;     // another try may help
  bool answered = false;  // a server was reached
  std::string reason;     // why it is not complete: the end of a sentence
};

// One request and its answer. Callbacks of libcurl must not throw: what they meet is kept and thrown afterwards.
class Transfer {
 public:
  Transfer(const DownloadRequest& request, std::string address, PartFile& part, const ProgressCallback& progress)
      : request_(request), address_(std::move(address)), part_(part), progress_(progress), curl_(curl_easy_init()) {
    if (!curl_) fail(ErrorKind::kInternal, "libcurl could not be started");
  }

  TransferOutcome run(const DownloadLimits& limits, double connect_seconds) {
    first_ = part_.size();
    set(CURLOPT_URL, address_.c_str());
    set(CURLOPT_USERAGENT, kAgent.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, address_.starts_with("https") ? "https" : "http,https");
    set(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(connect_seconds * 1000)));
    set(CURLOPT_LOW_SPEED_LIMIT, 1000L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(limits.stall_seconds)));
    if (const char* file = setting("SSL_CERT_FILE")) set(CURLOPT_CAINFO, file);
    if (const char* folder = setting("SSL_CERT_DIR")) set(CURLOPT_CAPATH, folder);
    set(CURLOPT_WRITEFUNCTION, &Transfer::take);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_HEADERFUNCTION, &Transfer::take_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::tell);
    set(CURLOPT_XFERINFODATA, this);
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(resume_headers(), &curl_slist_free_all);
    if (headers) set(CURLOPT_HTTPHEADER, headers.get());
    const CURLcode code = curl_easy_perform(curl_.get());
    if (failure_) std::rethrow_exception(failure_);
    return judge(code);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_.get(), option, value) != CURLE_OK) {
      fail(ErrorKind::kInternal, "libcurl does not know its option {}", static_cast<int>(option));
    }
  }

  // Asks for the rest. Without a checksum the server must confirm that it still has the same file.
  curl_slist* resume_headers() {
    if (first_ == 0) return nullptr;
    const std::string tag = part_.tag();
    if (request_.sha256.empty() && tag.empty()) {
      part_.empty();
      first_ = 0;
      return nullptr;
    }
    curl_slist* list = curl_slist_append(nullptr, fmt::format("Range: bytes={}-", first_).c_str());
    if (!tag.empty()) list = curl_slist_append(list, ("If-Range: " + tag).c_str());
    return list;
  }

  // The first bytes of an answer say whether they follow those that are there.
  void begin_body() {
    begun_ = true;
    if (status_ == 206 && (first_ == 0 || range_first_ != first_)) {
      fail(ErrorKind::kIo, "{}: {} answered with another part of the file than the one from byte {} on", request_.what,
           host_of(address_), first_);
    }
    if (status_ == 200) {
      part_.empty();  // it sends the file from its start
      first_ = 0;
    }
    if (status_ == 200 && request_.sha256.empty() && content_type_.starts_with("text/html")) {
      fail(ErrorKind::kIo, "expected the file of {} from {}, found a web page: is there a page to log in at?",
           request_.what, address_);
    }
    if (first_ == 0) part_.set_tag(tag_);
    check_room();
  }

  void check_room() const {
    if (length_ == 0) return;
    std::error_code error;
    const auto space = std::filesystem::space(std::filesystem::path(part_.path()).parent_path(), error);
    if (error || space.available >= length_) return;
    fail(ErrorKind::kIo, "{}: the disk is full: {} more are needed for {}, {} are free", part_.path(),
         megabytes_text(length_), request_.what, megabytes_text(space.available));
  }

  void add(const char* bytes, std::size_t count) {
    if (status_ != 200 && status_ != 206) return;  // the text of an error
    if (!begun_) begin_body();
    if (request_.bytes > 0 && part_.size() + count > request_.bytes) {
      part_.remove();
      fail(ErrorKind::kIo, "expected {} to be {} bytes long, found more at {}; nothing was installed", request_.what,
           request_.bytes, address_);
    }
    part_.append(bytes, count);
  }

  void add_header(std::string_view line) {
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {  // each answer of a chain of redirections begins anew
      status_ = 0;
      range_first_ = length_ = 0;
      tag_.clear();
      content_type_.clear();
      const std::size_t space = line.find(' ');
      if (space != std::string_view::npos) status_ = std::strtol(std::string(line.substr(space)).c_str(), nullptr, 10);
      answered_ = true;
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string value(line.substr(colon + 1));
    value.erase(0, value.find_first_not_of(' '));
    if (name == "etag" && !value.starts_with("W/")) tag_ = value;
    if (name == "content-type") content_type_ = value;
    if (name == "content-length") length_ = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "content-range" && value.starts_with("bytes ")) {
      range_first_ = std::strtoull(value.c_str() + 6, nullptr, 10);
    }
  }

  // Runs `work` and keeps what it throws; false: libcurl shall stop.
  template <class Work>
  bool guarded(const Work& work) {
    try {
      work();
      return true;
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      return false;
    }
  }

  static std::size_t take(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    return transfer.guarded([&] { transfer.add(bytes, size * count); }) ? size * count : 0;
  }
  static std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    return transfer.guarded([&] { transfer.add_header({bytes, size * count}); }) ? size * count : 0;
  }
  static int tell(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    return transfer.guarded([&] { transfer.report_progress(); }) ? 0 : 1;
  }

  void report_progress() const {
    const std::uint64_t total = request_.bytes > 0 ? request_.bytes : begun_ && length_ > 0 ? first_ + length_ : 0;
    std::string detail = begun_ ? megabytes_text(part_.size()) : "connecting to " + host_of(address_);
    if (begun_ && total > 0) detail += " of " + megabytes_text(total);
    report(progress_, {"download " + request_.what, static_cast<std::size_t>(begun_ ? part_.size() : 0),
                       static_cast<std::size_t>(total), detail});
  }

  TransferOutcome judge(CURLcode code) {
    TransferOutcome outcome;
    outcome.answered = answered_;
    if (answered_ && status_ == 416 && first_ > 0) {  // the part is longer than the file is now
      part_.empty();
      outcome.again = true;
      outcome.reason = "the server has another file than before";
      return outcome;
    }
    if (answered_ && status_ >= 400) {
      outcome.again = status_ == 408 || status_ == 429 || status_ >= 500;
      outcome.reason = fmt::format("the server answered with status {}{}", status_, meaning(status_));
      return outcome;
    }
    if (code == CURLE_OK && (status_ == 200 || status_ == 206)) {
      if (!begun_) begin_body();  // an empty file
      outcome.complete = true;
      return outcome;
    }
    if (code == CURLE_OK) {
      outcome.reason = fmt::format("the server answered with status {}", status_);
      return outcome;
    }
    outcome.again = code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE &&
                    code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
                    code != CURLE_TOO_MANY_REDIRECTS;
    outcome.reason = reason_of(code);
    return outcome;
  }

  static const char* meaning(long status) {
    if (status == 401 || status == 403) return " (not allowed)";
    if (status == 404 || status == 410) return " (there is no such file)";
    return "";
  }

  std::string reason_of(CURLcode code) const {
    switch (code) {
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
        return "its name is not known here: is the network up?";
      case CURLE_COULDNT_CONNECT:
        return "it cannot be reached: is the network up?";
      case CURLE_OPERATION_TIMEDOUT:
        if (!answered_) return "it does not answer: is the network up?";
        return fmt::format("it stopped sending after {}", megabytes_text(part_.size()));
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_GOT_NOTHING:
        return fmt::format("the connection was cut off after {}", megabytes_text(part_.size()));
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        return "its certificate cannot be trusted: is ca-certificates installed, or SSL_CERT_FILE to be set?";
      default:
        return curl_easy_strerror(code);
    }
  }

  struct Cleanup {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };
  inline static const std::string kAgent = std::string("annulus/") + kVersion;

  const DownloadRequest& request_;
  std::string address_;
  PartFile& part_;
  const ProgressCallback& progress_;
  std::unique_ptr<CURL, Cleanup> curl_;
  std::exception_ptr failure_;
  std::uint64_t first_ = 0;  // bytes that were there before
  bool begun_ = false;       // the file's bytes are coming
  bool answered_ = false;
  long status_ = 0;
  std::uint64_t range_first_ = 0;
  std::uint64_t length_ = 0;  // of this answer; 0: not told
  std::string tag_;
  std::string content_type_;
};

void start_curl() {
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted != CURLE_OK) fail(ErrorKind::kInternal, "libcurl could not be started");
}

void pause(double seconds, const std::string& what, const std::string& reason, const ProgressCallback& progress) {
  const SteadyTime start = now();
  while (seconds_since(start) < seconds) {
    report(progress, {"download " + what, 0, 0, "trying again: " + reason});
    wait_for_others();
  }
}

// Tries until the part is whole, or gives up.
void fill(const DownloadRequest& request, const std::string& address, PartFile& part, const ProgressCallback& progress,
          const DownloadLimits& limits) {
  const SteadyTime start = now();
  bool answered = false;
  double rest = limits.first_pause_seconds;
  for (int attempt = 1;; ++attempt) {
    const double left = limits.unreachable_seconds - seconds_since(start);
    const double connect = answered ? limits.connect_seconds : std::min(limits.connect_seconds, left);
    const TransferOutcome outcome = Transfer(request, address, part, progress).run(limits, connect);
    if (outcome.complete) return;
    answered = answered || outcome.answered;
    const bool late = !answered && seconds_since(start) + rest + 1.0 > limits.unreachable_seconds;
    if (!outcome.again || late || attempt >= limits.tries) {
      fail(
          ErrorKind::kIo, "could not download {} from {}: {}{}", request.what, answered ? address : host_of(address),
          outcome.reason,
          part.size() > 0 ? fmt::format("; run the command again to go on after {}", megabytes_text(part.size())) : "");
    }
    pause(rest, request.what, outcome.reason, progress);
    rest *= 3;
  }
}

// The checksum of the whole part. nothing: it is not the expected file.
std::optional<std::string> checked(const DownloadRequest& request, const PartFile& part) {
  if (request.bytes > 0 && part.size() != request.bytes) return std::nullopt;
  std::string sum = part.size() > 0 ? sha256_hex(map_file(part.path()).bytes) : sha256_hex({});
  if (!sum.starts_with(request.sha256)) return std::nullopt;
  return sum;
}

[[noreturn]] void reject(const DownloadRequest& request, const std::string& address, PartFile& part) {
  const std::uint64_t bytes = part.size();
  const std::string sum = bytes > 0 ? sha256_hex(map_file(part.path()).bytes) : sha256_hex({});
  part.remove();
  if (request.bytes > 0 && bytes != request.bytes) {
    fail(ErrorKind::kIo, "expected {} to be {} bytes long, found {} bytes at {}; nothing was installed", request.what,
         request.bytes, bytes, address);
  }
  fail(ErrorKind::kIo, "expected {} to have the sha256 {}{}, found {} at {}; nothing was installed", request.what,
       request.sha256, request.sha256_from.empty() ? "" : " (from " + request.sha256_from + ")", sum, address);
}

}  // namespace

bool is_offline() {
  const char* value = setting("ANNULUS_OFFLINE");
  return value != nullptr && std::string_view(value) != "0";
}

std::string mirrored(const std::string& address) {
  const std::size_t path = end_of_host(address);
  if (path == std::string::npos) {
    fail(ErrorKind::kUsage, "expected an address that begins with https:// or http://, found \"{}\"", address);
  }
  const char* chosen = setting("ANNULUS_MIRROR");
  if (chosen == nullptr) return address;
  std::string mirror = chosen;
  if (end_of_host(mirror) == std::string::npos) {
    fail(ErrorKind::kUsage, "expected ANNULUS_MIRROR to begin with https:// or http://, found \"{}\"", mirror);
  }
  while (mirror.back() == '/') mirror.pop_back();
  return mirror + address.substr(path);
}

Download download_file(const DownloadRequest& request, const std::filesystem::path& target,
                       const ProgressCallback& progress, const DownloadLimits& limits) {
  if (is_offline()) {
    fail(ErrorKind::kIo, "{} is not here yet, and nothing may be downloaded (offline): get it from {} first",
         request.what, request.address);
  }
  const std::string address = mirrored(request.address);
  start_curl();
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  if (error) fail(ErrorKind::kIo, "could not make the folder {}: {}", target.parent_path().string(), error.message());
  const std::string lock_file = target.string() + ".lock";
  std::optional<HeldFile> lock;
  bool waited = false;
  for (lock.emplace(lock_file); !lock->held(); lock.emplace(lock_file)) {
    waited = true;
    report(progress, {"download " + request.what, 0, 0, "another process is at it"});
    wait_for_others();
  }
  if (waited && std::filesystem::is_regular_file(target, error)) {
    const FileBytes file = map_file(target);
    const std::string sum = sha256_hex(file.bytes);
    if (sum.starts_with(request.sha256)) return {sum, file.bytes.size()};
  }
  PartFile part(target);
  const bool resumed = part.size() > 0;
  fill(request, address, part, progress, limits);
  std::optional<std::string> sum = checked(request, part);
  if (!sum && resumed) {  // what was there before may have been another file
    part.empty();
    fill(request, address, part, progress, limits);
    sum = checked(request, part);
  }
  if (!sum) reject(request, address, part);
  const std::uint64_t bytes = part.size();
  part.install();
  return {*sum, bytes};
}

}  // namespace annulus
