// Writes the large arrays first, then the text that names them; reads them back block by block.
#include "annulus/store/models/fit_checkpoint_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/whole_file.h"

namespace annulus {
namespace {

constexpr std::string_view kCheckpointFormat = "annulus fit checkpoint 2";
constexpr std::string_view kAnyCheckpoint = "annulus fit checkpoint ";
constexpr std::size_t kMostText = std::size_t{16} << 20;

// An open file descriptor that is closed by its destructor.
class OpenNumbers {
 public:
  OpenNumbers(const std::filesystem::path& path, int flags) : path_(path), number_(::open(path.c_str(), flags, 0666)) {
    if (number_ < 0) fail_with("opened");
  }
  ~OpenNumbers() { ::close(number_); }
  OpenNumbers(const OpenNumbers&) = delete;
  OpenNumbers& operator=(const OpenNumbers&) = delete;

  int number() const { return number_; }
  [[noreturn]] void fail_with(const char* what) const {
    fail(ErrorKind::kIo, "{}: could not be {}: {}", path_.string(), what, std::strerror(errno));
  }

 private:
  std::filesystem::path path_;
  int number_;
};

// The start of each array, and the end of the last; in elements.
std::vector<std::size_t> places_of(std::span<const KeptNumbers> numbers) {
  std::vector<std::size_t> places{0};
  for (const KeptNumbers& array : numbers) places.push_back(places.back() + array.total);
  return places;
}

off_t offset_of(std::size_t number) { return static_cast<off_t>(number * sizeof(float)); }

nlohmann::json json_of(const TrainingNumbers& numbers) {
  return {{"steps", numbers.steps}, {"loss", numbers.loss}, {"correct", numbers.correct}};
}

TrainingNumbers numbers_from(const nlohmann::json& kept) {
  // JSON has no infinity: the loss of a training that diverges is written as null, and read back as NaN.
  const auto& loss = kept.at("loss");
  return {kept.at("steps").get<std::uint64_t>(),
          loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>(),
          kept.at("correct").get<double>()};
}

}  // namespace

FitCheckpointFile::FitCheckpointFile(std::filesystem::path path, std::string key, const Options& options)
    : path_(std::move(path)), key_(std::move(key)), options_(options), kept_(now()) {
  if (first()) {
    held_.emplace(path_.string() + ".lock");
    if (!held_->held()) {
      fail(ErrorKind::kUsage,
           "{}: expected a checkpoint that no other fit uses, found it in use; wait for that fit or name another file",
           path_.string());
    }
  }
  const std::string text = read_text();
  if (!text.empty()) parse(text);
}

void FitCheckpointFile::barrier() const {
  if (options_.communicator != nullptr) options_.communicator->barrier();
}

std::string FitCheckpointFile::read_text() const {
  std::string text;
  std::error_code ignored;
  if (first() && std::filesystem::exists(path_, ignored)) {
    const WholeFile file = read_whole_file(path_, kMostText);
    text.assign(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    if (text.empty())
      fail(ErrorKind::kFormat, "{}: expected the checkpoint of a fit, found an empty file", path_.string());
  }
  if (options_.communicator == nullptr) return text;
  std::uint64_t size = text.size();
  options_.communicator->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  options_.communicator->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

void FitCheckpointFile::parse(const std::string& text) {
  std::string key;
  std::string format;
  try {
    const auto json = nlohmann::json::parse(text);
    format = json.at("format").get<std::string>();
    if (format != kCheckpointFormat) throw std::invalid_argument("another format");
    key = json.at("key").get<std::string>();
    for (const auto& entry : json.at("calls")) {
      if (entry.contains("accuracy")) {
        calls_.push_back({entry.at("accuracy").get<double>(), {}, false});
      } else {
        calls_.push_back({std::nullopt, numbers_from(entry), entry.at("head").get<bool>()});
      }
    }
    if (json.contains("running")) {
      const auto& entry = json.at("running");
      running_ = {numbers_from(entry), entry.at("slot").get<std::size_t>() % 2};
    }
  } catch (const std::exception&) {
    if (format != kCheckpointFormat && format.starts_with(kAnyCheckpoint)) {
      fail(ErrorKind::kFormat,
           "{}: expected the checkpoint of a fit by this version, found that of another version; remove it or name "
           "another file",
           path_.string());
    }
    fail(ErrorKind::kFormat, "{}: expected the checkpoint of a fit, found something else or a damaged one",
         path_.string());
  }
  if (key != key_) {
    fail(ErrorKind::kInput,
         "{}: expected the checkpoint of this fit, found that of other data or options; remove it or name another file",
         path_.string());
  }
}

void FitCheckpointFile::commit() const {
  if (!first()) return;
  nlohmann::json json = {{"format", kCheckpointFormat}, {"key", key_}, {"calls", nlohmann::json::array()}};
  for (const Call& call : calls_) {
    if (call.accuracy) {
      json["calls"].push_back({{"accuracy", *call.accuracy}});
    } else {
      json["calls"].push_back(json_of(call.numbers));
      json["calls"].back()["head"] = call.has_head;
    }
  }
  if (running_) {
    json["running"] = json_of(running_->numbers);
    json["running"]["slot"] = running_->slot;
  }
  write_file(path_, json.dump(1) + "\n");
}

const FitCheckpointFile::Call* FitCheckpointFile::next_call(bool training) {
  if (next_ == calls_.size()) return nullptr;
  const Call& call = calls_[next_++];
  if (call.accuracy.has_value() == training) {
    fail(ErrorKind::kFormat,
         "{}: expected the computations of this fit in their order, found another order at entry {}", path_.string(),
         next_ - 1);
  }
  return &call;
}

std::optional<double> FitCheckpointFile::find_accuracy() {
  const Call* call = next_call(false);
  return call == nullptr ? std::nullopt : call->accuracy;
}

void FitCheckpointFile::keep_accuracy(double accuracy) {
  calls_.push_back({accuracy, {}, false});
  next_ = calls_.size();
  const bool had_state = running_.has_value();
  running_.reset();
  commit();
  if (had_state) remove_files({state_file(0), state_file(1)});
}

std::optional<TrainingNumbers> FitCheckpointFile::find_training(std::span<const KeptNumbers> head) {
  const std::size_t number = next_;
  const Call* call = next_call(true);
  if (call == nullptr) return std::nullopt;
  if (call->has_head) read_numbers(head_file(number), head);
  steps_found_ += call->numbers.steps;
  return call->numbers;
}

void FitCheckpointFile::keep_training(const TrainingNumbers& numbers, bool continues,
                                      std::span<const KeptNumbers> head) {
  std::vector<std::filesystem::path> superseded{state_file(0), state_file(1)};
  if (continues) {
    for (std::size_t i = calls_.size(); i > 0; --i) {
      if (calls_[i - 1].accuracy) continue;
      if (std::exchange(calls_[i - 1].has_head, false)) superseded.push_back(head_file(i - 1));
      break;
    }
  }
  write_numbers(head_file(calls_.size()), head);
  calls_.push_back({std::nullopt, numbers, true});
  next_ = calls_.size();
  running_.reset();
  commit();
  remove_files(superseded);
}

std::optional<TrainingNumbers> FitCheckpointFile::find_state(std::span<const KeptNumbers> state) {
  if (!running_ || next_ != calls_.size()) return std::nullopt;
  read_numbers(state_file(running_->slot), state);
  if (!state.empty()) steps_found_ += running_->numbers.steps;
  return running_->numbers;
}

bool FitCheckpointFile::state_is_due() const { return first() && seconds_since(kept_) >= options_.seconds; }

void FitCheckpointFile::keep_state(const TrainingNumbers& numbers, std::span<const KeptNumbers> state) {
  const std::size_t slot = running_ ? 1 - running_->slot : 0;
  write_numbers(state_file(slot), state);
  running_ = {numbers, slot};
  commit();
  kept_ = now();
}

void FitCheckpointFile::remove() {
  std::vector<std::filesystem::path> files{path_, state_file(0), state_file(1)};
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    // Also those that a later one superseded: a kill may have come before they were removed.
    if (!calls_[i].accuracy) files.push_back(head_file(i));
  }
  remove_files(files);
}

std::filesystem::path FitCheckpointFile::head_file(std::size_t call) const {
  return path_.string() + ".head-" + std::to_string(call);
}

std::filesystem::path FitCheckpointFile::state_file(std::size_t slot) const {
  return path_.string() + ".state-" + std::to_string(slot);
}

void FitCheckpointFile::write_numbers(const std::filesystem::path& file, std::span<const KeptNumbers> numbers) const {
  const std::vector<std::size_t> places = places_of(numbers);
  if (first()) {
    const OpenNumbers made(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (::ftruncate(made.number(), offset_of(places.back())) != 0) made.fail_with("made as long as needed");
  }
  barrier();
  if (options_.writes) {
    const OpenNumbers out(file, O_WRONLY | O_CLOEXEC);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto bytes = std::as_bytes(numbers[i].numbers);
      off_t offset = offset_of(places[i] + numbers[i].first);
      while (!bytes.empty()) {
        const ssize_t written = ::pwrite(out.number(), bytes.data(), bytes.size(), offset);
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = ENOSPC;
        if (written <= 0) out.fail_with("written");
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        offset += written;
      }
    }
    if (::fsync(out.number()) != 0) out.fail_with("written to disk");
  }
  barrier();
}

void FitCheckpointFile::read_numbers(const std::filesystem::path& file, std::span<const KeptNumbers> numbers) {
  const std::vector<std::size_t> places = places_of(numbers);
  const OpenNumbers in(file, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (::fstat(in.number(), &status) != 0) in.fail_with("read");
  if (status.st_size != offset_of(places.back())) {
    fail(ErrorKind::kFormat, "{}: expected {} bytes of a checkpoint, found {}", file.string(), offset_of(places.back()),
         status.st_size);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto bytes = std::as_writable_bytes(numbers[i].numbers);
    off_t offset = offset_of(places[i] + numbers[i].first);
    while (!bytes.empty()) {
      const ssize_t taken = ::pread(in.number(), bytes.data(), bytes.size(), offset);
      if (taken < 0 && errno == EINTR) continue;
      if (taken < 0) in.fail_with("read");
      if (taken == 0) fail(ErrorKind::kFormat, "{}: was truncated while it was read", file.string());
      bytes = bytes.subspan(static_cast<std::size_t>(taken));
      offset += taken;
    }
  }
}

void FitCheckpointFile::remove_files(const std::vector<std::filesystem::path>& files) const {
  if (!first()) return;
  std::error_code ignored;
  for (const auto& file : files) std::filesystem::remove(file, ignored);
}

}  // namespace annulus
