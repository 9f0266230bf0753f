// softmax(q K^T) V for a constant q: K = x Wk^T + bk, so that q K^T = x (Wk^T q) + a number that softmax ignores.
#include "annulus/vision/networks/attention_pooling.h"

#include <cmath>

namespace annulus {
namespace {

// Row h: the vector whose product with a token is the score of head h.
std::vector<float> score_vectors(const std::vector<float>& learnt, const std::vector<float>& query_weight,
                                 const std::vector<float>& query_bias, const std::vector<float>& key_weight,
                                 std::size_t width, std::size_t heads) {
  const std::size_t head = width / heads;
  std::vector<double> sums(heads * width, 0.0);
  for (std::size_t k = 0; k < width; ++k) {
    double query = query_bias[k];
    for (std::size_t i = 0; i < width; ++i) {
      query += static_cast<double>(query_weight[k * width + i]) * static_cast<double>(learnt[i]);
    }
    query /= std::sqrt(static_cast<double>(head));
    double* row = sums.data() + k / head * width;
    for (std::size_t i = 0; i < width; ++i) row[i] += query * static_cast<double>(key_weight[k * width + i]);
  }
  return {sums.begin(), sums.end()};
}

}  // namespace

std::string pool_by_attention(TransformerLayers& layers, const VitLayout& layout, const Architecture& architecture,
                              const std::string& rows, std::int64_t tokens) {
  const PoolingLayout& names = layout.pooling;
  EncoderTensors& tensors = layers.tensors();
  OnnxModel& model = layers.model();
  const std::int64_t width = architecture.width;
  const std::int64_t heads = architecture.heads;
  const std::int64_t head = width / heads;
  const auto columns = static_cast<std::size_t>(width);

  const Fill learnt = tensors.need_squeezed(names.query, {1, 1, width});
  const bool one = names.query_weight.empty();
  const Fill weight = tensors.need(names.weight, {one ? 3 * width : 2 * width, width});
  const Fill bias = tensors.need(names.bias, {one ? 3 * width : 2 * width});
  const Fill query_weight =
      one ? rows_of(weight, 0, columns, columns) : tensors.need(names.query_weight, {width, width});
  const Fill query_bias = one ? rows_of(bias, 0, columns, 1) : tensors.need(names.query_bias, {width});
  const std::size_t keys = one ? columns : 0;
  const Fill key_weight = rows_of(weight, keys, columns, columns);
  const Fill value_weight = rows_of(weight, keys + columns, columns, columns);
  const Fill value_bias = rows_of(bias, keys + columns, columns, 1);

  const Fill score_weight = [=] {
    return score_vectors(learnt(), query_weight(), query_bias(), key_weight(), columns,
                         static_cast<std::size_t>(heads));
  };
  const std::string scores =
      layers.linear(rows, "pooling.scores", heads, width, score_weight, zeros(static_cast<std::size_t>(heads)));
  const std::string by_head = layers.transpose(layers.reshape(scores, {-1, tokens, heads}), {0, 2, 1});
  const std::string shares = model.node("Softmax", {by_head}, {{"axis", std::int64_t{-1}}});
  const std::string pooled = model.node("MatMul", {shares, layers.reshape(rows, {-1, tokens, width})});
  // One product a head: its pooled token with its rows of the value weights.
  const Fill value_columns = [=] {
    std::vector<float> turned;
    for (std::size_t h = 0; h < static_cast<std::size_t>(heads); ++h) {
      const auto size = static_cast<std::size_t>(head);
      const std::vector<float> part = transposed_fill(rows_of(value_weight, h * size, size, columns), size, columns)();
      turned.insert(turned.end(), part.begin(), part.end());
    }
    return turned;
  };
  const std::string values = model.weight("pooling.values.weight", {1, heads, width, head}, value_columns);
  const std::string mixed =
      layers.reshape(model.node("MatMul", {layers.reshape(pooled, {-1, heads, 1, width}), values}), {-1, width});
  const std::string with_bias = model.node("Add", {mixed, model.weight("pooling.values.bias", {width}, value_bias)});
  const std::string out = layers.linear(with_bias, names.out, width, width);
  const std::int64_t hidden = tensors.length(names.fc1 + ".weight", 0);
  const std::string normed = layers.norm(out, names.norm, width, layout.epsilon);
  const std::string inner = layers.activation(layers.linear(normed, names.fc1, hidden, width), architecture.activation);
  return model.node("Add", {out, layers.linear(inner, names.fc2, width, hidden)});
}

}  // namespace annulus
