// Where the tensors of a vision transformer lie under each program's names, and what these programs compute
// differently.
#pragma once

#include <string>

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"

namespace annulus {

// The head that pools tokens by attention from one learnt query (SigLIP).
struct PoolingLayout {
  std::string query;         // the learnt query
  std::string query_weight;  // of its linear layer; empty: all three are one tensor, query first
  std::string query_bias;
  std::string weight;  // of keys and values, or of all three
  std::string bias;
  std::string out;
  std::string norm;
  std::string fc1;
  std::string fc2;
};

// Names are relative to the encoder's prefix; those of a block to its stem. An empty name: there is none.
struct VitLayout {
  std::string program;  // whose names these are, for reports
  std::string patch = "patch_embed.proj";
  std::string class_token = "cls_token";
  std::string registers;
  std::string positions = "pos_embed";
  bool class_has_position = true;  // the first row of the table is the class token's
  std::string norm_before;         // of the tokens, before the first block
  std::string norm_after = "norm";
  std::string projection;            // a matrix after the last norm
  std::string projection_bias;       // where it is a linear layer with one
  bool projection_is_linear = true;  // outputs x width, as linear layers are; false: width x outputs

  std::string blocks = "blocks.";
  std::string norm1 = "norm1";
  std::string norm2 = "norm2";
  std::string qkv_weight = "attn.qkv.weight";  // queries, keys and values as one; empty: three layers
  std::string qkv_bias = "attn.qkv.bias";      // empty: none, or the two below
  std::string qkv_bias_mask;                   // multiplies the bias
  std::string query_bias;                      // beside the one weight; keys then have none
  std::string value_bias;
  std::string query;
  std::string key;
  std::string value;
  std::string out = "attn.proj";
  std::string scale1;  // layer scale
  std::string scale2;
  std::string gate;  // of a gated MLP: silu(gate) * fc1; empty: a plain one
  std::string fc1 = "mlp.fc1";
  std::string fc2 = "mlp.fc2";

  PoolingLayout pooling;       // used where its query has a name
  bool rotary = false;         // positions rotate queries and keys
  std::string rotary_periods;  // tensor of the wave lengths; empty: computed
  float epsilon = 1e-6F;       // of the norms
};

// Chosen by names that are in the checkpoint.
VitLayout vit_layout(const Architecture& architecture, const EncoderTensors& tensors);

}  // namespace annulus
