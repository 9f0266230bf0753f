// Small pictures of a project's photos, kept in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "annulus/vision/image/image.h"
#include "studio_engine/project/shared_project.h"

namespace annulus::studio {

// May be used from any thread. One mutex guards the kept pictures. Pictures are made without it: two threads that want
// the same one at once may both make it.
class Thumbnails {
 public:
  // `project` must outlive this. When the kept pictures would take more than most_bytes, all of them are dropped.
  explicit Thumbnails(const SharedProject& project, std::size_t most_bytes = std::size_t{96} << 20);

  // The small picture of a photo as WebP. Throws Error{kUsage} when there is no such photo, Error{kFormat} when it
  // cannot be decoded.
  std::shared_ptr<const std::string> picture(const std::string& id, std::size_t side);
  // Squares of several photos in one WebP, with a gap of side / 12 after each; what cannot be decoded is white.
  std::shared_ptr<const std::string> strip(std::span<const std::string> ids, std::size_t side);

 private:
  Image read_photo(const std::string& id) const;
  std::shared_ptr<const std::string> kept(const std::string& key, const std::function<std::string()>& make);

  const SharedProject& project_;
  const std::size_t most_bytes_;
  std::mutex mutex_;  // guards all below
  std::unordered_map<std::string, std::shared_ptr<const std::string>> pictures_;
  std::size_t bytes_ = 0;
};

}  // namespace annulus::studio
