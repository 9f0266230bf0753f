// A frozen image encoder: preprocessed images in, one feature vector per image out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "annulus/base/matrix.h"
#include "annulus/vision/backbone/onnx_session.h"

namespace annulus {

// How several output vectors per image become one.
enum class TokenPooling {
  kClass,  // the first token
  kMean,   // the mean of the patch tokens: of the largest square number of tokens at the end
};

struct BackboneOptions {
  std::string output;                          // name of the model's output; empty: chosen by rule
  TokenPooling tokens = TokenPooling::kClass;  // for outputs of shape [batch, tokens, dimension]
};

// Any ONNX model with one image input (float or half, [batch, 3, height, width] or [batch, height, width, 3]). Without
// a name the feature output is the first present of features, image_features, image_embeds, embeddings, embedding,
// pooler_output, pooled_output, last_hidden_state, else the only one. [batch, d] is used as it is, [batch, tokens, d]
// is pooled by TokenPooling, a 4-D map by its mean over positions.
//
// The same image gives the same bits for any batch and any number of threads: a model with a free batch size runs on
// one image at a time on one thread, and images are distributed over threads. That costs nothing (docs/decisions/0041).
class Backbone {
 public:
  // Throws Error{kFormat} if the file cannot be run or has no suitable input or output, naming what was found.
  explicit Backbone(const std::filesystem::path& file, const BackboneOptions& options = {});

  std::size_t dimension() const { return dimension_; }
  // Required side lengths; 0: any.
  std::size_t height() const { return height_; }
  std::size_t width() const { return width_; }
  // Images per run: 1 unless the file fixes a larger number.
  std::size_t batch() const { return batch_; }

  const std::string& sha256() const { return sha256_; }            // of the model file (and its external weights)
  const std::string& output_rule() const { return output_rule_; }  // "last_hidden_state, class token"
  const std::filesystem::path& file() const { return file_; }
  // The slots of the model file for images and features.
  const TensorInfo& input() const { return session_.inputs().front(); }
  const TensorInfo& output() const { return session_.outputs()[output_]; }
  bool channels_last() const { return channels_last_; }     // the input is [batch, height, width, 3]
  std::size_t output_rank() const { return output_rank_; }  // as found: 2, 3 (tokens) or 4 (a map)
  std::size_t token_count() const { return token_count_; }  // vectors of an output of tokens; 1 of the others
  TokenPooling tokens() const { return tokens_; }
  // Identifies weights and output rule: equal identities give equal features for equal preprocessed images.
  std::string identity() const { return sha256_ + " " + output_rule_; }
  // The preprocessing in the model's metadata ("annulus.preprocess"); empty if there is none.
  const std::string& preprocessing() const { return preprocessing_; }

  // An entry of the file's metadata; empty if it has none by this name.
  std::string metadata(const std::string& key) const { return session_.metadata(key); }

  // The engine and its version, e.g. "ONNX Runtime 1.24.3": another version may give other last bits.
  const std::string& engine() const { return engine_; }

  // images: one row per image, three planes (red, green, blue) of height x width. features: images.rows() x
  // dimension().
  void run(ConstMatrixView<float> images, std::size_t height, std::size_t width, MatrixView<float> features,
           int threads = 1) const;

 private:
  void read_input();
  std::size_t choose_output(const std::string& wanted) const;
  void read_output(const BackboneOptions& options);
  void run_group(ConstMatrixView<float> images, std::size_t height, std::size_t width,
                 MatrixView<float> features) const;
  void pool(const FloatTensor& output, MatrixView<float> features) const;

  std::filesystem::path file_;
  OnnxSession session_;
  std::string sha256_;
  std::string output_rule_;
  std::string preprocessing_;
  std::string engine_;
  TokenPooling tokens_;
  bool channels_last_ = false;
  std::size_t output_ = 0;
  std::size_t output_rank_ = 0;
  std::size_t token_count_ = 1;
  std::size_t batch_ = 1;
  std::size_t height_ = 0;
  std::size_t width_ = 0;
  std::size_t dimension_ = 0;
};

// "ONNX Runtime 1.24.3, FILE". Throws Error{kUsage} that says why it cannot be used.
std::string describe_runtime();

// Whether this build runs backbones, and ONNX Runtime, which it needs for that, is nowhere to be found.
bool lacks_runtime();

}  // namespace annulus
