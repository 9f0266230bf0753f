// The tensors of one encoder inside a checkpoint: those under one prefix, checked against the needs of a network.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "annulus/vision/import/tensor_file.h"

namespace annulus {

// The name that a file has for the one by which a network asks, both without prefix; the beginning of names of layers,
// which reject_unused() takes, is renamed as well.
using TensorRename = std::string (*)(const std::string& name);

class EncoderTensors {
 public:
  // The file must outlive this object and everything it returns. rename: null where the names are those of the network.
  EncoderTensors(const TensorFile& file, std::string prefix, TensorRename rename = nullptr)
      : file_(&file), prefix_(std::move(prefix)), rename_(rename) {}

  // nullptr when there is no such tensor under the prefix.
  const StoredTensor* find(const std::string& name) const { return file_->find(stored_name(name)); }

  // Records that the network needs this tensor in this shape, and returns a function that reads it later. A missing or
  // misshapen tensor becomes a problem, not an exception, so that all of them can be counted.
  std::function<std::vector<float>()> need(const std::string& name, const std::vector<std::int64_t>& shape);
  // The same for a tensor that others store with or without leading axes of length 1.
  std::function<std::vector<float>()> need_squeezed(const std::string& name, std::vector<std::int64_t> shape);
  // The length of an axis, counted from the last (-1) or the first (0); 0 when there is no such tensor or axis.
  std::int64_t length(const std::string& name, int axis) const;
  // Records another problem.
  void object(std::string problem) { problems_.push_back(std::move(problem)); }
  // Records every unused tensor that begins with `stem`: the checkpoint has more layers than the network.
  void reject_unused(const std::string& stem, const std::string& architecture);

  const TensorFile& file() const { return *file_; }
  const std::string& prefix() const { return prefix_; }
  const std::set<std::string>& used() const { return used_; }  // full names
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::string stored_name(const std::string& name) const {
    return prefix_ + (rename_ == nullptr ? name : rename_(name));
  }

  const TensorFile* file_;
  std::string prefix_;
  TensorRename rename_;
  std::set<std::string> used_;
  std::vector<std::string> problems_;
};

}  // namespace annulus
