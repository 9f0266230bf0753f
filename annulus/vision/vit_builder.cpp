// Vision transformer blocks in few, large operators: rows of tokens go through Gemm, so biases cost no pass of their
// own.
#include "annulus/vision/vit_builder.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace annulus {
namespace {

constexpr float kNormEpsilon = 1e-6F;
constexpr int kMlpRatio = 4;

using Fill = OnnxModel::Fill;

// Rows [first, first + rows) of a matrix of `columns` columns.
Fill rows_of(Fill fill, std::size_t first, std::size_t rows, std::size_t columns) {
  return [=] {
    const std::vector<float> all = fill();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * columns);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(rows * columns));
  };
}

// Row i multiplied by scale[i]: the layer scale of a linear layer's outputs.
Fill scale_each_row(Fill fill, Fill scale, std::size_t columns) {
  return [=] {
    std::vector<float> all = fill();
    const std::vector<float> factors = scale();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] *= factors[i / columns];
    return all;
  };
}

class VitBuilder {
 public:
  VitBuilder(const Architecture& net, PositionResize resize, EncoderTensors& tensors, OnnxModel& model,
             std::vector<std::string>& notes)
      : net_(net), resize_(resize), tensors_(tensors), model_(model), notes_(notes), width_(net.width) {
    grid_ = net.image_size / net.patch;
    if (const StoredTensor* registers = tensors.find("register_tokens"); registers && registers->shape.size() == 3) {
      registers_ = registers->shape[1];
      notes_.push_back(fmt::format("{} register tokens", registers_));
    }
    tokens_ = 1 + registers_ + grid_ * grid_;
    layer_scale_ = tensors.find("blocks.0.ls1.gamma") != nullptr;
    if (layer_scale_) notes_.push_back("layer scale folded into the linear layers");
  }

  void build() {
    model_.input("pixel_values", {-1, 3, net_.image_size, net_.image_size});
    add_constants();
    std::string x = embed();
    for (int i = 0; i < net_.depth; ++i) x = block(x, i, i + 1 == net_.depth);
    model_.node("LayerNormalization", {x, vector("norm.weight"), vector("norm.bias")}, norm_attributes(), "features");
    model_.output("features", {-1, width_});
    tensors_.refuse_unused("blocks.", net_.name);
  }

 private:
  static std::vector<OnnxAttribute> norm_attributes() {
    return {{"axis", std::int64_t{-1}}, {"epsilon", kNormEpsilon}};
  }
  std::string vector(const std::string& name) { return model_.weight(name, {width_}, tensors_.need(name, {width_})); }

  void add_constants() {
    model_.integers("shape_rows", {-1, width_});
    model_.integers("shape_tokens", {-1, tokens_, width_});
    model_.integers("shape_class", {-1, 1, width_});
    model_.integers("shape_patches", {0, width_, -1});
    model_.integers("shape_query_key_value", {-1, tokens_, 3 * width_});
    model_.integers("shape_key_value", {-1, tokens_, 2 * width_});
    model_.integers("front_tokens", {0, 1 + registers_, 0, 0, 0, 0});
    model_.integers("zero", {0});
    model_.floats("root_two", {}, {std::sqrt(2.0F)});
    model_.floats("float_one", {}, {1.0F});
    model_.floats("float_half", {}, {0.5F});
  }

  // Patches, then one table that holds class token, registers and positions: zero rows are put in front and the table
  // is added, which needs no operator that knows the batch size.
  std::string embed() {
    const std::int64_t patch = net_.patch;
    const std::string weight = model_.weight("patch_embed.proj.weight", {width_, 3, patch, patch},
                                             tensors_.need("patch_embed.proj.weight", {width_, 3, patch, patch}));
    const std::string patches = model_.node("Conv", {"pixel_values", weight, vector("patch_embed.proj.bias")},
                                            {{"kernel_shape", std::vector<std::int64_t>{patch, patch}},
                                             {"strides", std::vector<std::int64_t>{patch, patch}}});
    const std::string flat = model_.node("Reshape", {patches, "shape_patches"});
    const std::string rows = model_.node("Transpose", {flat}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
    const std::string padded = model_.node("Pad", {rows, "front_tokens"});
    const std::string table = model_.weight("token_table", {1, tokens_, width_}, token_table());
    return model_.node("Reshape", {model_.node("Add", {padded, table}), "shape_rows"});
  }

  Fill token_table() {
    const Fill class_token = tensors_.need("cls_token", {1, 1, width_});
    const Fill registers = registers_ > 0 ? tensors_.need("register_tokens", {1, registers_, width_}) : Fill();
    std::int64_t stored = 0;  // positions in the file, the class token's among them
    if (const StoredTensor* table = tensors_.find("pos_embed"); table && table->shape.size() == 3) {
      stored = table->shape[1];
    }
    const auto from =
        static_cast<int>(std::lround(std::sqrt(static_cast<double>(std::max<std::int64_t>(stored, 1) - 1))));
    const bool square = from > 0 && static_cast<std::int64_t>(from) * from + 1 == stored;
    const auto to = static_cast<int>(grid_);
    const Fill positions = tensors_.need("pos_embed", {1, square ? stored : 1 + grid_ * grid_, width_});
    if (square && from != to) notes_.push_back(fmt::format("position table resized from {0}x{0} to {1}x{1}", from, to));
    return [=, width = static_cast<std::size_t>(width_), how = resize_] {
      const std::vector<float> all = positions();
      std::vector<float> table = class_token();
      for (std::size_t k = 0; k < width; ++k) table[k] += all[k];
      if (registers) {
        const std::vector<float> values = registers();
        table.insert(table.end(), values.begin(), values.end());
      }
      const std::span<const float> patches = std::span(all).subspan(width);
      if (from == to) {
        table.insert(table.end(), patches.begin(), patches.end());
      } else {
        const auto resized = resize_positions(patches, from, to, static_cast<int>(width), how);
        table.insert(table.end(), resized.begin(), resized.end());
      }
      return table;
    };
  }

  // x W^T + b with W as PyTorch stores it.
  std::string linear(const std::string& x, const std::string& name, std::int64_t outputs, std::int64_t inputs,
                     Fill weight, Fill bias) {
    return model_.node("Gemm",
                       {x, model_.weight(name + ".weight", {outputs, inputs}, std::move(weight)),
                        model_.weight(name + ".bias", {outputs}, std::move(bias))},
                       {{"transB", std::int64_t{1}}});
  }
  std::string linear(const std::string& x, const std::string& name, std::int64_t outputs, std::int64_t inputs,
                     const std::string& scale = {}) {
    Fill weight = tensors_.need(name + ".weight", {outputs, inputs});
    Fill bias = tensors_.need(name + ".bias", {outputs});
    if (!scale.empty()) {
      const Fill factors = tensors_.need(scale, {outputs});
      weight = scale_each_row(weight, factors, static_cast<std::size_t>(inputs));
      bias = scale_each_row(bias, factors, 1);
    }
    return linear(x, name, outputs, inputs, std::move(weight), std::move(bias));
  }

  // After the last block only the class token is looked at, so its queries and its MLP need one row an image.
  std::string block(const std::string& x, int index, bool last) {
    const std::string stem = fmt::format("blocks.{}.", index);
    const std::string normed = model_.node(
        "LayerNormalization", {x, vector(stem + "norm1.weight"), vector(stem + "norm1.bias")}, norm_attributes());
    const std::string mixed = attention(normed, stem, last);
    const std::string projected =
        linear(mixed, stem + "attn.proj", width_, width_, layer_scale_ ? stem + "ls1.gamma" : "");
    const std::string sum = model_.node("Add", {last ? class_rows(x) : x, projected});
    const std::string normed_again = model_.node(
        "LayerNormalization", {sum, vector(stem + "norm2.weight"), vector(stem + "norm2.bias")}, norm_attributes());
    const std::string hidden = gelu(linear(normed_again, stem + "mlp.fc1", kMlpRatio * width_, width_));
    const std::string out =
        linear(hidden, stem + "mlp.fc2", width_, kMlpRatio * width_, layer_scale_ ? stem + "ls2.gamma" : "");
    return model_.node("Add", {sum, out});
  }

  std::string class_rows(const std::string& rows) {
    const std::string tokens = model_.node("Reshape", {rows, "shape_tokens"});
    return model_.node("Reshape", {model_.node("Gather", {tokens, "zero"}, {{"axis", std::int64_t{1}}}), "shape_rows"});
  }

  // ONNX Runtime's own attention never makes the tokens x tokens matrix: with 3137 tokens it takes half the time and a
  // sixth of the memory of MatMul, Softmax, MatMul (docs/decisions/0031).
  std::string attention(const std::string& x, const std::string& stem, bool last) {
    const auto width = static_cast<std::size_t>(width_);
    const std::string name = stem + "attn.qkv";
    const Fill weight = tensors_.need(name + ".weight", {3 * width_, width_});
    const Fill bias = tensors_.need(name + ".bias", {3 * width_});
    std::vector<std::string> parts;
    if (last) {
      const std::string query = linear(class_rows(x), stem + "attn.q", width_, width_, rows_of(weight, 0, width, width),
                                       rows_of(bias, 0, width, 1));
      const std::string rest = linear(x, stem + "attn.kv", 2 * width_, width_, rows_of(weight, width, 2 * width, width),
                                      rows_of(bias, width, 2 * width, 1));
      parts = model_.split(model_.node("Reshape", {rest, "shape_key_value"}), 2, 2);
      parts.insert(parts.begin(), model_.node("Reshape", {query, "shape_class"}));
    } else {
      const std::string all = linear(x, name, 3 * width_, width_, weight, bias);
      parts = model_.split(model_.node("Reshape", {all, "shape_query_key_value"}), 3, 2);
    }
    const std::string mixed =
        model_.runtime_node("MultiHeadAttention", parts, {{"num_heads", std::int64_t{net_.heads}}});
    return model_.node("Reshape", {mixed, "shape_rows"});
  }

  // The exact form, spelled as ONNX Runtime recognises it and fuses it.
  std::string gelu(const std::string& x) {
    const std::string error = model_.node("Erf", {model_.node("Div", {x, "root_two"})});
    const std::string gated = model_.node("Mul", {x, model_.node("Add", {error, "float_one"})});
    return model_.node("Mul", {gated, "float_half"});
  }

  const Architecture& net_;
  PositionResize resize_;
  EncoderTensors& tensors_;
  OnnxModel& model_;
  std::vector<std::string>& notes_;
  std::int64_t width_;
  std::int64_t grid_ = 0;
  std::int64_t registers_ = 0;
  std::int64_t tokens_ = 0;
  bool layer_scale_ = false;
};

}  // namespace

void build_vit(const Architecture& architecture, PositionResize resize, EncoderTensors& tensors, OnnxModel& model,
               std::vector<std::string>& notes) {
  VitBuilder(architecture, resize, tensors, model, notes).build();
}

}  // namespace annulus
