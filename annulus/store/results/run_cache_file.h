// Finished runs on disk: appended one by one, each with its checksum, so that a killed run goes on where it stopped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "annulus/eval/protocols/cached_runs.h"
#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/many_way.h"

namespace annulus {

// A text file of lines "checksum key value"; the checksum covers key and value. A last line that was cut off by a kill
// is overwritten; damage anywhere else is an error. Several processes may have it open: each finds what the others
// keep, and claims what it computes, so that they share the runs out. A process that dies loses its claims. Not safe
// for concurrent calls.
class RunCacheFile {
 public:
  // Opens the file, or creates an empty one. Throws Error{kIo}, and Error{kFormat} naming the damaged line.
  explicit RunCacheFile(std::filesystem::path path);
  ~RunCacheFile();
  RunCacheFile(const RunCacheFile&) = delete;
  RunCacheFile& operator=(const RunCacheFile&) = delete;

  std::optional<std::string> find(const std::string& key);
  // The right to compute a run until the pointer is gone; null while another process has it. Ends before this object.
  std::shared_ptr<const void> claim(const std::string& key) const;
  // On disk when the call returns. The value is one line of text.
  void keep(const std::string& key, const std::string& value);
  std::size_t size() const { return values_.size(); }
  // The same as functions of runs, which become text here alone; they live no longer than this object.
  RunCache<std::string> texts();
  RunCache<ManyWayRun> runs();
  RunCache<SeedScore> seeds();

 private:
  void read_new_lines();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::size_t whole_ = 0;  // bytes of whole lines that were read
  std::size_t lines_ = 0;  // of them
  std::map<std::string, std::string> values_;
};

}  // namespace annulus
