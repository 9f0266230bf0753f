// Starts the program, asks it over a socket, and ends it where it does not answer in time.
#include "server/decode/decoder_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <system_error>

#include "annulus/base/error.h"

extern char** environ;

namespace annulus::server {
namespace {

// From the start of the program until it is confined; a machine that is short of processors takes its time.
constexpr std::chrono::seconds kStartTime{60};
// Decoders that hear the deadline say so themselves, and live on.
constexpr std::chrono::milliseconds kGrace{250};
// Shared memory that stays with a process between images.
constexpr std::size_t kKeptBytes = std::size_t{48} << 20;

std::string why_not(int error) { return std::error_code(error, std::generic_category()).message(); }

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// A copy beyond the numbers that the process finds its own under.
int moved_up(int descriptor) {
  constexpr int kFirst = 10;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
  const int error = errno;
  ::close(descriptor);
  if (moved < 0) fail(ErrorKind::kIo, "too few file descriptors: {}", why_not(error));
  return moved;
}

// A token may be in the environment, so the process gets what its loader needs and no more.
std::vector<char*> loader_environment() {
  std::vector<char*> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "LD_LIBRARY_PATH" || name == "LIBHEIF_PLUGIN_PATH" || name.ends_with("SAN_OPTIONS")) {
      kept.push_back(*entry);
    }
  }
  kept.push_back(nullptr);
  return kept;
}

// The pixels belong to the shared memory.
class LentImage {
 public:
  LentImage(std::byte* pixels, std::size_t width, std::size_t height)
      : image_{width, height, std::unique_ptr<std::uint8_t[]>(reinterpret_cast<std::uint8_t*>(pixels))} {}
  ~LentImage() { static_cast<void>(image_.pixels.release()); }
  LentImage(const LentImage&) = delete;
  LentImage& operator=(const LentImage&) = delete;
  const Image& image() const { return image_; }

 private:
  Image image_;
};

// A sentence of another process: bounded, on one line.
std::string message_of(const DecodeReply& reply) {
  std::string text(reply.message.data(), ::strnlen(reply.message.data(), reply.message.size()));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

ErrorKind kind_of(std::uint64_t number) {
  switch (static_cast<ErrorKind>(number)) {
    case ErrorKind::kFormat:
      return ErrorKind::kFormat;
    case ErrorKind::kInput:
      return ErrorKind::kInput;
    case ErrorKind::kCancelled:
      return ErrorKind::kCancelled;
    default:
      return ErrorKind::kInternal;
  }
}

}  // namespace

std::size_t decoder_memory(const DecodeLimits& limits) {
  // JPEG XL computes with several planes of floats and integers; LibRaw may take 512 MB by itself.
  constexpr std::size_t kForEverything = std::size_t{768} << 20;
  constexpr std::size_t kForPixel = 40;
  return kForEverything + kForPixel * limits.max_pixels + limits.max_bytes;
}

DecoderProcess::DecoderProcess(const std::vector<std::string>& command, const DecodeLimits& limits)
    : setup_{whole_pages(limits.max_bytes), whole_pages(3 * limits.max_pixels), decoder_memory(limits)} {
  const std::size_t bytes = setup_.file_bytes + setup_.pixel_bytes;
  try {
    const int memory = ::memfd_create("annulus-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) fail(ErrorKind::kIo, "no shared memory: {}", why_not(errno));
    memory_ = moved_up(memory);
    // Sealed: memory that the other side could cut would end this process.
    if (::ftruncate(memory_, static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(memory_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
      fail(ErrorKind::kIo, "no shared memory of {} bytes: {}", bytes, why_not(errno));
    }
    void* const shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (shared == MAP_FAILED) fail(ErrorKind::kIo, "no shared memory of {} bytes: {}", bytes, why_not(errno));
    shared_ = static_cast<std::byte*>(shared);
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      fail(ErrorKind::kIo, "no pair of sockets: {}", why_not(errno));
    }
    socket_ = ends[0];
    start(command, moved_up(ends[1]));
    DecodeReply ready;
    if (!send(&setup_, sizeof(setup_)) || !wait_for(ready, now() + kStartTime)) {
      kill_and_collect();
      fail(ErrorKind::kIo, "the program {} did not become a decoder: {}", command.front(), end_);
    }
    if (ready.failed != 0) fail(ErrorKind::kIo, "{}", message_of(ready));
  } catch (...) {
    release();
    throw;
  }
}

DecoderProcess::~DecoderProcess() { release(); }

void DecoderProcess::release() {
  kill_and_collect();
  if (shared_ != nullptr) ::munmap(shared_, setup_.file_bytes + setup_.pixel_bytes);
  if (memory_ >= 0) ::close(memory_);
  if (socket_ >= 0) ::close(socket_);
}

// Closes `socket`, the end of the process.
void DecoderProcess::start(const std::vector<std::string>& command, int socket) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, socket, kDecodeSocket);
  ::posix_spawn_file_actions_adddup2(&actions, memory_, kDecodeMemory);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kDecodeMemory + 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const std::vector<char*> environment = loader_environment();
  const int error = ::posix_spawn(&process_, words.front(), &actions, nullptr, words.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(socket);
  if (error == 0) return;
  process_ = 0;
  fail(ErrorKind::kIo, "could not run {}: {}", command.front(), why_not(error));
}

bool DecoderProcess::send(const void* message, std::size_t size) const {
  for (;;) {
    if (::send(socket_, message, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size)) return true;
    if (errno != EINTR) return false;
  }
}

// False when the process ends or does not answer by then.
bool DecoderProcess::wait_for(DecodeReply& reply, SteadyTime until) const {
  for (;;) {
    int milliseconds = -1;
    if (until != SteadyTime::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now()).count();
      if (left <= 0) return false;
      milliseconds = static_cast<int>(std::min<std::int64_t>(left, 1'000'000));
    }
    pollfd wait{socket_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, milliseconds);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t size = ::recv(socket_, &reply, sizeof(reply), MSG_DONTWAIT);
    if (size == static_cast<ssize_t>(sizeof(reply))) return true;
    if (size >= 0 || (errno != EINTR && errno != EAGAIN)) return false;
  }
}

void DecoderProcess::collect(int status) {
  process_ = 0;
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  end_ = fmt::format("{} {}", WIFSIGNALED(status) ? "signal" : "exit code", number);
  ended_by_others_ = WIFSIGNALED(status) && (number == SIGKILL || number == SIGTERM || number == SIGINT);
}

void DecoderProcess::kill_and_collect() {
  if (process_ == 0) return;
  // One that has ended by itself keeps the reason.
  if (!runs()) return;
  ::kill(process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  collect(status);
}

bool DecoderProcess::runs() {
  if (process_ == 0) return false;
  int status = 0;
  const pid_t ended = ::waitpid(process_, &status, WNOHANG);
  if (ended == process_) collect(status);
  return process_ != 0;
}

void DecoderProcess::decode(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source,
                            const std::function<void(const Image&)>& use) {
  if (file.size() > setup_.file_bytes) {
    fail(ErrorKind::kFormat, "{}: the image file has {} bytes, more than the limit of {}", source, file.size(),
         setup_.file_bytes);
  }
  ++images_;
  std::copy(file.begin(), file.end(), shared_);
  DecodeRequest request;
  request.file_bytes = file.size();
  request.max_pixels = options.limits.max_pixels;
  request.max_side = options.limits.max_side;
  request.max_scans_of_largest = options.limits.max_scans_of_largest;
  const SteadyTime deadline = options.limits.deadline;
  request.deadline = deadline.time_since_epoch().count();
  request.apply_exif = options.apply_exif ? 1 : 0;
  request.to_srgb = options.to_srgb ? 1 : 0;
  std::copy_n(source.begin(), std::min(source.size(), request.source.size() - 1), request.source.begin());
  DecodeReply reply;
  const bool timed = deadline != SteadyTime::max();
  if (!send(&request, sizeof(request)) || !wait_for(reply, timed ? deadline + kGrace : deadline)) {
    const bool late = timed && now() >= deadline + kGrace && runs();
    kill_and_collect();
    if (late) {
      end_ = "deadline";
      ended_by_others_ = false;
      fail(ErrorKind::kCancelled, "{}: decoding took longer than the time there was", source);
    }
    fail(ErrorKind::kFormat, "{}: the image cannot be decoded: it ended its decoder ({})", source, end_);
  }
  if (reply.failed != 0) {
    forget_pages(file.size(), 0);
    throw Error(kind_of(reply.kind), message_of(reply));
  }
  // A process that was taken over may say anything.
  if (reply.width == 0 || reply.height == 0 || reply.width > setup_.pixel_bytes / 3 / reply.height) {
    kill_and_collect();
    end_ = "impossible size";
    ended_by_others_ = false;
    fail(ErrorKind::kFormat, "{}: the image cannot be decoded: its decoder answered with an impossible size", source);
  }
  const LentImage lent(shared_ + setup_.file_bytes, reply.width, reply.height);
  const std::shared_ptr<void> forget(nullptr,
                                     [&](void*) { forget_pages(file.size(), 3 * reply.width * reply.height); });
  use(lent.image());
}

// Large images leave no memory behind.
void DecoderProcess::forget_pages(std::size_t file_bytes, std::size_t pixel_bytes) {
  if (file_bytes + pixel_bytes <= kKeptBytes) return;
  ::madvise(shared_, setup_.file_bytes + setup_.pixel_bytes, MADV_REMOVE);
}

}  // namespace annulus::server
