// Finished runs that somebody else keeps: an evaluation that was killed computes only what is missing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace annulus {

// A run is one result that is computed as a whole: a method on a split (ManyWayRun), or on the episodes of a seed
// (SeedScore). Its key names everything that the result depends on, so a run that is found is the result. An empty
// cache keeps nothing.
template <class Run>
struct RunCache {
  std::function<std::optional<Run>(const std::string& key)> find{};
  std::function<void(const std::string& key, const Run& run)> keep{};
  // Where several processes share a cache: takes on the work of a run, until what it returns is gone; null while
  // another process is at it. Absent: nobody else is.
  std::function<std::shared_ptr<const void>(const std::string& key)> claim{};
  std::function<void()> wait{};  // waits a moment for other processes to finish something

  bool empty() const { return !find && !keep; }
};

template <class Run>
struct CachedRun {
  std::string key;
  std::function<Run()> compute;
  double size = 0.0;  // how much work it is, compared with the others
};

// A key of 64 hexadecimal digits from what a run depends on, by name.
std::string run_key_of(const std::map<std::string, std::string>& parts);

// The run, found or computed and kept; nothing where another process is at it.
template <class Run>
std::optional<Run> run_unless_busy(const RunCache<Run>& cache, const CachedRun<Run>& wanted) {
  const auto found = [&]() -> std::optional<Run> { return cache.find ? cache.find(wanted.key) : std::nullopt; };
  if (auto run = found()) return run;
  std::shared_ptr<const void> claim;
  if (cache.claim) {
    claim = cache.claim(wanted.key);
    if (!claim) return std::nullopt;
    // Another process may have finished it between the two looks.
    if (auto run = found()) return run;
  }
  Run run = wanted.compute();
  if (cache.keep) cache.keep(wanted.key, run);
  return run;
}

// All runs, found or computed and kept, the largest first: processes that share them out then end at about the same
// time. Those that other processes are at come last: they are looked for until they are there, or until their process
// is gone and they are computed here. `progress` is called between runs with the number of those that are finished.
template <class Run>
std::vector<Run> cached_runs(const RunCache<Run>& cache, const std::vector<CachedRun<Run>>& wanted,
                             const std::function<void(std::size_t finished)>& progress = {}) {
  std::vector<std::optional<Run>> runs(wanted.size());
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a].size > wanted[b].size; });
  for (std::size_t finished = 0; finished < wanted.size();) {
    const std::size_t before = finished;
    for (const std::size_t i : order) {
      if (runs[i]) continue;
      if (progress) progress(finished);
      runs[i] = run_unless_busy(cache, wanted[i]);
      if (runs[i]) ++finished;
    }
    if (finished == before && cache.wait) cache.wait();
  }
  std::vector<Run> result;
  result.reserve(runs.size());
  for (auto& run : runs) result.push_back(std::move(*run));
  return result;
}

}  // namespace annulus
