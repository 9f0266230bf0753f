// Finds convolutions whose only user scales or shifts their channels by constants.
#include "annulus/vision/quantize/fold_constants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace annulus {
namespace {

// y = factor * x + shift for each channel.
struct ChannelMap {
  std::vector<double> factor;
  std::vector<double> shift;
};

class Folding {
 public:
  explicit Folding(OnnxNetwork& network) : network_(network) {
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      for (const std::string& name : network_.nodes[i].inputs) ++uses_[name];
      for (const std::string& name : network_.nodes[i].outputs) producer_[name] = i;
    }
    for (const std::string& name : network_.outputs) ++uses_[name];
  }

  void run() {
    std::set<std::size_t> gone;
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      const OnnxNode& node = network_.nodes[i];
      if (!node.domain.empty() || (node.kind != "BatchNormalization" && node.kind != "Add")) continue;
      if (node.inputs.empty() || node.outputs.size() != 1) continue;
      for (const std::string& value : {node.inputs.front(), node.inputs.back()}) {
        const auto found = producer_.find(value);
        if (found == producer_.end() || !fold(network_.nodes[found->second], node, value)) continue;
        producer_[node.outputs.front()] = found->second;
        gone.insert(i);
        break;
      }
    }
    std::vector<OnnxNode> kept;
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      if (!gone.contains(i)) kept.push_back(std::move(network_.nodes[i]));
    }
    network_.nodes = std::move(kept);
  }

 private:
  std::optional<std::vector<float>> values(const std::string& name) const {
    const OnnxTensor* const tensor = network_.find_weight(name);
    return tensor == nullptr ? std::nullopt : float_values(*tensor, network_.source());
  }

  std::optional<ChannelMap> batch_norm(const OnnxNode& node, std::size_t channels) const {
    if (node.inputs.size() != 5 || node.integer("training_mode", 0) != 0) return std::nullopt;
    std::vector<std::vector<float>> all;
    for (std::size_t i = 1; i < 5; ++i) {
      auto found = values(node.inputs[i]);
      if (!found || found->size() != channels) return std::nullopt;
      all.push_back(std::move(*found));
    }
    const double epsilon = static_cast<double>(node.real("epsilon", 1e-5F));
    ChannelMap map;
    for (std::size_t c = 0; c < channels; ++c) {
      const double factor = static_cast<double>(all[0][c]) / std::sqrt(static_cast<double>(all[3][c]) + epsilon);
      map.factor.push_back(factor);
      map.shift.push_back(static_cast<double>(all[1][c]) - factor * static_cast<double>(all[2][c]));
    }
    return map;
  }

  std::optional<ChannelMap> added(const OnnxNode& node, const std::string& value, std::size_t channels) const {
    if (node.inputs.size() != 2) return std::nullopt;
    const std::string& other = node.inputs.front() == value ? node.inputs.back() : node.inputs.front();
    const OnnxTensor* const tensor = network_.find_weight(other);
    const auto found = values(other);
    if (!found || found->size() != channels || tensor->shape.size() < 3) return std::nullopt;
    // [channels, 1, 1] or [1, channels, 1, 1]
    const std::size_t axis = tensor->shape.size() - 3;
    if (tensor->shape[axis] != static_cast<std::int64_t>(channels)) return std::nullopt;
    return ChannelMap{std::vector<double>(channels, 1.0), {found->begin(), found->end()}};
  }

  bool fold(OnnxNode& convolution, const OnnxNode& node, const std::string& value) {
    if (convolution.kind != "Conv" || !convolution.domain.empty() || uses_[value] != 1) return false;
    if (convolution.inputs.size() < 2 || convolution.outputs.size() != 1) return false;
    const OnnxTensor* const kernel = network_.find_weight(convolution.inputs[1]);
    auto weights = values(convolution.inputs[1]);
    if (!weights || kernel->shape.size() != 4) return false;
    const auto channels = static_cast<std::size_t>(kernel->shape.front());
    std::vector<float> bias(channels, 0.0F);
    if (convolution.inputs.size() > 2 && !convolution.inputs[2].empty()) {
      const auto found = values(convolution.inputs[2]);
      if (!found || found->size() != channels) return false;
      bias = *found;
    }
    const auto map = node.kind == "Add" ? added(node, value, channels) : batch_norm(node, channels);
    if (!map) return false;
    const std::size_t each = weights->size() / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = c * each; i < (c + 1) * each; ++i) {
        (*weights)[i] = static_cast<float>(static_cast<double>((*weights)[i]) * map->factor[c]);
      }
      bias[c] = static_cast<float>(static_cast<double>(bias[c]) * map->factor[c] + map->shift[c]);
    }
    const std::string output = node.outputs.front();
    const std::vector<std::int64_t> shape = kernel->shape;
    network_.set_weight(make_floats(output + "/weight", shape, *weights));
    network_.set_weight(make_floats(output + "/bias", {shape.front()}, bias));
    convolution.inputs = {convolution.inputs.front(), output + "/weight", output + "/bias"};
    convolution.outputs = {output};
    return true;
  }

  OnnxNetwork& network_;
  std::map<std::string, std::size_t> uses_;
  std::map<std::string, std::size_t> producer_;
};

}  // namespace

void fold_constants(OnnxNetwork& network) { Folding(network).run(); }

}  // namespace annulus
