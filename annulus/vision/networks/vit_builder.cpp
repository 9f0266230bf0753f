// Vision transformer blocks in few, large operators: rows of tokens go through Gemm, so biases need no separate pass.
#include "annulus/vision/networks/vit_builder.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "annulus/vision/networks/attention_pooling.h"
#include "annulus/vision/networks/token_positions.h"
#include "annulus/vision/networks/transformer_layers.h"

namespace annulus {
namespace {

constexpr int kMlpRatio = 4;

class VitBuilder {
 public:
  VitBuilder(const Architecture& net, const VitLayout& names, PositionResize resize, TokenFeature feature,
             EncoderTensors& tensors, OnnxModel& model, std::vector<std::string>& notes)
      : net_(net),
        names_(names),
        resize_(resize),
        feature_(feature == TokenFeature::kUsual ? TokenFeature::kClass : feature),
        tensors_(tensors),
        model_(model),
        notes_(notes),
        layers_(tensors, model),
        width_(net.width) {
    grid_ = net.image_size / net.patch;
    registers_ = names.registers.empty() ? 0 : tensors.length(names.registers, -2);
    if (registers_ > 0) notes_.push_back(fmt::format("{} register tokens", registers_));
    front_ = (names.class_token.empty() ? 0 : 1) + registers_;
    tokens_ = front_ + grid_ * grid_;
    all_tokens_ = feature_ != TokenFeature::kClass || !names.pooling.query.empty();
    if (!names.scale1.empty()) notes_.push_back("layer scale folded into the linear layers");
  }

  void build() {
    model_.input("pixel_values", {-1, 3, net_.image_size, net_.image_size});
    std::string x = embed();
    if (!names_.norm_before.empty()) x = layers_.norm(x, names_.norm_before, width_, names_.epsilon);
    if (names_.rotary) add_rotary_tables();
    for (int i = 0; i < net_.depth; ++i) x = block(x, i, i + 1 == net_.depth && !all_tokens_);
    finish(layers_.norm(x, names_.norm_after, width_, names_.epsilon));
    tensors_.reject_unused(names_.blocks, net_.name);
  }

 private:
  // Patches, then one table that holds class token, registers and positions: zero rows are put in front and the table
  // is added, which needs no operator that knows the batch size.
  std::string embed() {
    const std::int64_t patch = net_.patch;
    const std::string kernel = names_.patch + ".weight";
    std::vector<std::string> inputs = {"pixel_values", model_.weight(kernel, {width_, 3, patch, patch},
                                                                     tensors_.need(kernel, {width_, 3, patch, patch}))};
    const std::string bias = names_.patch + ".bias";
    // CLIP's convolution has none.
    if (net_.family != NetworkFamily::kClipVit || tensors_.find(bias) != nullptr) {
      inputs.push_back(model_.weight(bias, {width_}, tensors_.need(bias, {width_})));
    }
    const std::string patches = model_.node("Conv", inputs,
                                            {{"kernel_shape", std::vector<std::int64_t>{patch, patch}},
                                             {"strides", std::vector<std::int64_t>{patch, patch}}});
    std::string rows = layers_.transpose(layers_.reshape(patches, {-1, width_, grid_ * grid_}), {0, 2, 1});
    if (front_ > 0) {
      rows = model_.node("Pad", {rows, layers_.integers("front_tokens", {0, front_, 0, 0, 0, 0})});
    }
    const std::string table = model_.weight("token_table", {1, tokens_, width_}, token_table());
    return layers_.reshape(model_.node("Add", {rows, table}), {-1, width_});
  }

  Fill token_table() {
    const std::int64_t class_rows = names_.class_token.empty() ? 0 : 1;
    const Fill class_token = class_rows > 0 ? tensors_.need_squeezed(names_.class_token, {1, 1, width_}) : Fill();
    const Fill registers = registers_ > 0 ? tensors_.need_squeezed(names_.registers, {1, registers_, width_}) : Fill();
    const std::int64_t rows = names_.class_has_position ? class_rows : 0;  // of the table, before the patches'
    const auto front = static_cast<std::size_t>(rows * width_);
    const Fill positions = names_.positions.empty()
                               ? zeros(static_cast<std::size_t>((rows + grid_ * grid_) * width_))
                               : stored_positions(tensors_, names_.positions, rows, grid_, width_, resize_, notes_);
    return [=] {
      const std::vector<float> all = positions();
      std::vector<float> table = class_token ? class_token() : std::vector<float>();
      for (std::size_t k = 0; k < front; ++k) table[k] += all[k];
      const auto patches = all.begin() + static_cast<std::ptrdiff_t>(front);
      if (registers) {
        const std::vector<float> values = registers();
        table.insert(table.end(), values.begin(), values.end());
      }
      table.insert(table.end(), patches, all.end());
      return table;
    };
  }

  void add_rotary_tables() {
    const std::int64_t head = width_ / net_.heads;
    Fill periods = [head] { return usual_periods(head); };
    if (!names_.rotary_periods.empty()) periods = tensors_.need(names_.rotary_periods, {head / 4});
    const auto tables = std::make_shared<RotaryTables>();
    const auto compute = [=, front = front_, grid = grid_, width = width_, heads = net_.heads] {
      if (tables->cosine.empty()) *tables = rotary_tables(front, grid, width, heads, periods());
    };
    model_.weight("rotary_cosine", {1, tokens_, width_}, [=] {
      compute();
      return tables->cosine;
    });
    model_.weight("rotary_sine", {1, tokens_, width_}, [=] {
      compute();
      return tables->sine;
    });
    layers_.integers("rotary_partner", rotary_tables(0, 1, width_, net_.heads, usual_periods(head)).partner);
  }

  // batch x tokens x width
  std::string rotated(const std::string& x) {
    const std::string partner = model_.node("Gather", {x, "rotary_partner"}, {{"axis", std::int64_t{2}}});
    return model_.node("Add", {model_.node("Mul", {x, "rotary_cosine"}), model_.node("Mul", {partner, "rotary_sine"})});
  }

  // After the last block only the class token is used, so its queries and its MLP need one row per image.
  std::string block(const std::string& x, int index, bool class_only) {
    const std::string stem = fmt::format("{}{}.", names_.blocks, index);
    const std::string normed = layers_.norm(x, stem + names_.norm1, width_, names_.epsilon);
    const std::string mixed = attention(normed, stem, class_only);
    const std::string projected =
        layers_.linear(mixed, stem + names_.out, width_, width_, optional(stem, names_.scale1));
    const std::string sum = model_.node("Add", {class_only ? class_rows(x) : x, projected});
    return model_.node("Add", {sum, mlp(layers_.norm(sum, stem + names_.norm2, width_, names_.epsilon), stem)});
  }

  std::string mlp(const std::string& x, const std::string& stem) {
    std::string inner;
    std::int64_t hidden = kMlpRatio * width_;
    if (names_.gate.empty()) {
      inner = layers_.activation(layers_.linear(x, stem + names_.fc1, hidden, width_), net_.activation);
    } else {
      hidden = tensors_.length(stem + names_.gate + ".weight", 0);
      const std::string gate = layers_.silu(layers_.linear(x, stem + names_.gate, hidden, width_));
      inner = model_.node("Mul", {gate, layers_.linear(x, stem + names_.fc1, hidden, width_)});
    }
    return layers_.linear(inner, stem + names_.fc2, width_, hidden, optional(stem, names_.scale2));
  }

  static std::string optional(const std::string& stem, const std::string& name) {
    return name.empty() ? name : stem + name;
  }

  std::string class_rows(const std::string& rows) {
    const std::string tokens = layers_.reshape(rows, {-1, tokens_, width_});
    const std::string first =
        model_.node("Gather", {tokens, layers_.integers("zero", {0})}, {{"axis", std::int64_t{1}}});
    return layers_.reshape(first, {-1, width_});
  }

  struct Projections {
    Fill weight;  // 3 width x width: queries, keys, values
    Fill bias;
  };
  Projections projections(const std::string& stem) {
    const auto width = static_cast<std::size_t>(width_);
    if (names_.qkv_weight.empty()) {
      std::vector<Fill> weights;
      std::vector<Fill> biases;
      for (const std::string& name : {names_.query, names_.key, names_.value}) {
        const std::string bias = stem + name + ".bias";
        const bool none = names_.rotary && name == names_.key && tensors_.find(bias) == nullptr;
        weights.push_back(tensors_.need(stem + name + ".weight", {width_, width_}));
        biases.push_back(none ? zeros(width) : tensors_.need(bias, {width_}));
      }
      return {joined(std::move(weights)), joined(std::move(biases))};
    }
    const Fill weight = tensors_.need(stem + names_.qkv_weight, {3 * width_, width_});
    if (!names_.query_bias.empty()) {
      return {weight, joined({tensors_.need(stem + names_.query_bias, {width_}), zeros(width),
                              tensors_.need(stem + names_.value_bias, {width_})})};
    }
    if (names_.qkv_bias.empty()) return {weight, zeros(3 * width)};
    Fill bias = tensors_.need(stem + names_.qkv_bias, {3 * width_});
    if (!names_.qkv_bias_mask.empty()) {
      bias = product_of(bias, tensors_.need(stem + names_.qkv_bias_mask, {3 * width_}));
    }
    return {weight, bias};
  }

  std::string attention(const std::string& x, const std::string& stem, bool class_only) {
    const auto width = static_cast<std::size_t>(width_);
    const auto [weight, bias] = projections(stem);
    std::vector<std::string> parts;
    if (class_only) {
      const std::string query = layers_.linear(class_rows(x), stem + "attn.q", width_, width_,
                                               rows_of(weight, 0, width, width), rows_of(bias, 0, width, 1));
      const std::string rest =
          layers_.linear(x, stem + "attn.kv", 2 * width_, width_, rows_of(weight, width, 2 * width, width),
                         rows_of(bias, width, 2 * width, 1));
      parts = model_.split(layers_.reshape(rest, {-1, tokens_, 2 * width_}), 2, 2);
      parts.insert(parts.begin(), layers_.reshape(query, {-1, 1, width_}));
    } else {
      const std::string all = layers_.linear(x, stem + "attn.qkv", 3 * width_, width_, weight, bias);
      parts = model_.split(layers_.reshape(all, {-1, tokens_, 3 * width_}), 3, 2);
    }
    if (names_.rotary) {
      // Tokens before the patches are not rotated, the class token among them.
      if (!class_only) parts[0] = rotated(parts[0]);
      parts[1] = rotated(parts[1]);
    }
    return layers_.reshape(layers_.attention(parts[0], parts[1], parts[2], net_.heads), {-1, width_});
  }

  // From normed tokens, or normed class tokens alone, to the output.
  void finish(const std::string& rows) {
    std::vector<std::string> parts;
    if (feature_ != TokenFeature::kMean) {
      std::string pooled = rows;
      if (!names_.pooling.query.empty()) {
        pooled = pool_by_attention(layers_, names_, net_, rows, tokens_);
      } else if (all_tokens_) {
        pooled = class_rows(rows);
      }
      parts.push_back(projected(pooled));
    }
    if (feature_ != TokenFeature::kClass) {
      std::string tokens = layers_.reshape(rows, {-1, tokens_, width_});
      if (front_ > 0) {
        tokens = model_.node("Slice", {tokens, layers_.integers("first_patch", {front_}),
                                       layers_.integers("last_patch", {tokens_}), layers_.integers("token_axis", {1})});
      }
      parts.push_back(projected(model_.reduce("ReduceMean", tokens, {1}, false)));
    }
    if (parts.size() == 2) {
      model_.node("Concat", parts, {{"axis", std::int64_t{1}}}, "features");
    } else {
      model_.node("Identity", parts, {}, "features");
    }
    model_.output("features", {-1, static_cast<std::int64_t>(parts.size()) * dimension_});
  }

  std::string projected(const std::string& x) {
    dimension_ = width_;
    if (names_.projection.empty()) return x;
    const std::string& name = names_.projection;
    const bool linear = names_.projection_is_linear;
    const std::int64_t outputs = tensors_.length(name, linear ? 0 : 1);
    const OnnxModel::Shape shape = linear ? OnnxModel::Shape{outputs, width_} : OnnxModel::Shape{width_, outputs};
    if (projection_.empty()) projection_ = model_.weight(name, shape, tensors_.need(name, shape));
    dimension_ = outputs;
    std::vector<std::string> inputs = {x, projection_};
    if (!names_.projection_bias.empty()) {
      if (projection_bias_.empty()) {
        projection_bias_ =
            model_.weight(names_.projection_bias, {outputs}, tensors_.need(names_.projection_bias, {outputs}));
      }
      inputs.push_back(projection_bias_);
    }
    return model_.node("Gemm", inputs, {{"transB", std::int64_t{linear ? 1 : 0}}});
  }

  const Architecture& net_;
  const VitLayout& names_;
  PositionResize resize_;
  TokenFeature feature_;
  EncoderTensors& tensors_;
  OnnxModel& model_;
  std::vector<std::string>& notes_;
  TransformerLayers layers_;
  std::int64_t width_;
  std::int64_t grid_ = 0;
  std::int64_t registers_ = 0;
  std::int64_t front_ = 0;  // tokens before the patches
  std::int64_t tokens_ = 0;
  std::int64_t dimension_ = 0;  // of one part of the feature
  bool all_tokens_ = false;     // the feature needs every token after the last block
  std::string projection_;
  std::string projection_bias_;
};

}  // namespace

void build_vit(const Architecture& architecture, const VitLayout& layout, PositionResize resize, TokenFeature feature,
               EncoderTensors& tensors, OnnxModel& model, std::vector<std::string>& notes) {
  VitBuilder(architecture, layout, resize, feature, tensors, model, notes).build();
}

}  // namespace annulus
