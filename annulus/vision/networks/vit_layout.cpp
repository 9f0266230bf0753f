// One function a program: its names, as differences from those of DINO and timm.
#include "annulus/vision/networks/vit_layout.h"

namespace annulus {
namespace {

bool has(const EncoderTensors& tensors, const std::string& name) { return tensors.find(name) != nullptr; }

// Optional parts of the blocks that DINO, DINOv2, DINOv3 and timm name alike.
VitLayout block_names(const EncoderTensors& tensors) {
  VitLayout layout;
  if (has(tensors, "blocks.0.ls1.gamma")) {
    layout.scale1 = "ls1.gamma";
    layout.scale2 = "ls2.gamma";
  }
  return layout;
}

// transformers' encoders of ViT, DINO and DINOv2; the last names the parts of a block differently.
VitLayout transformers_vit(const EncoderTensors& tensors) {
  VitLayout layout;
  layout.program = "transformers";
  layout.patch = "embeddings.patch_embeddings.projection";
  layout.class_token = "embeddings.cls_token";
  layout.positions = "embeddings.position_embeddings";
  if (has(tensors, "embeddings.register_tokens")) layout.registers = "embeddings.register_tokens";
  layout.norm_after = "layernorm";
  layout.blocks = "encoder.layer.";
  layout.qkv_weight.clear();
  layout.query = "attention.attention.query";
  layout.key = "attention.attention.key";
  layout.value = "attention.attention.value";
  layout.out = "attention.output.dense";
  if (has(tensors, "encoder.layer.0.layer_scale1.lambda1")) {
    layout.scale1 = "layer_scale1.lambda1";
    layout.scale2 = "layer_scale2.lambda1";
  } else {
    layout.norm1 = "layernorm_before";
    layout.norm2 = "layernorm_after";
    layout.fc1 = "intermediate.dense";
    layout.fc2 = "output.dense";
  }
  return layout;
}

VitLayout plain_layout(const EncoderTensors& tensors) {
  if (has(tensors, "embeddings.patch_embeddings.projection.weight")) return transformers_vit(tensors);
  VitLayout layout = block_names(tensors);
  if (has(tensors, "register_tokens")) layout.registers = "register_tokens";
  if (has(tensors, "reg_token")) {
    // timm's networks with registers have positions for patches alone.
    layout.program = "timm";
    layout.registers = "reg_token";
    layout.class_has_position = false;
  }
  return layout;
}

// transformers' encoders of CLIP and SigLIP.
VitLayout transformers_tower() {
  VitLayout layout;
  layout.program = "transformers";
  layout.patch = "vision_model.embeddings.patch_embedding";
  layout.positions = "vision_model.embeddings.position_embedding.weight";
  layout.norm_after = "vision_model.post_layernorm";
  layout.blocks = "vision_model.encoder.layers.";
  layout.norm1 = "layer_norm1";
  layout.norm2 = "layer_norm2";
  layout.qkv_weight.clear();
  layout.query = "self_attn.q_proj";
  layout.key = "self_attn.k_proj";
  layout.value = "self_attn.v_proj";
  layout.out = "self_attn.out_proj";
  return layout;
}

VitLayout clip_layout(const EncoderTensors& tensors) {
  VitLayout layout;
  if (has(tensors, "vision_model.pre_layrnorm.weight")) {
    layout = transformers_tower();
    layout.class_token = "vision_model.embeddings.class_embedding";
    layout.norm_before = "vision_model.pre_layrnorm";
    layout.projection = "visual_projection.weight";
  } else if (has(tensors, "norm_pre.weight")) {
    layout = block_names(tensors);
    layout.program = "timm";
    layout.norm_before = "norm_pre";
    layout.projection = "head.weight";
    if (has(tensors, "head.bias")) layout.projection_bias = "head.bias";
  } else {
    layout.program = "OpenAI";
    layout.patch = "conv1";
    layout.class_token = "class_embedding";
    layout.positions = "positional_embedding";
    layout.norm_before = "ln_pre";
    layout.norm_after = "ln_post";
    layout.projection = "proj";
    layout.projection_is_linear = false;
    layout.blocks = "transformer.resblocks.";
    layout.norm1 = "ln_1";
    layout.norm2 = "ln_2";
    layout.qkv_weight = "attn.in_proj_weight";
    layout.qkv_bias = "attn.in_proj_bias";
    layout.out = "attn.out_proj";
    layout.fc1 = "mlp.c_fc";
    layout.fc2 = "mlp.c_proj";
  }
  layout.epsilon = 1e-5F;
  return layout;
}

VitLayout siglip_layout(const EncoderTensors& tensors) {
  if (has(tensors, "vision_model.head.probe")) {
    VitLayout layout = transformers_tower();
    layout.class_token.clear();
    const std::string head = "vision_model.head.";
    layout.pooling = {head + "probe",
                      "",
                      "",
                      head + "attention.in_proj_weight",
                      head + "attention.in_proj_bias",
                      head + "attention.out_proj",
                      head + "layernorm",
                      head + "mlp.fc1",
                      head + "mlp.fc2"};
    return layout;
  }
  VitLayout layout = block_names(tensors);
  layout.program = "timm";
  layout.class_token.clear();
  layout.pooling = {"attn_pool.latent",    "attn_pool.q.weight", "attn_pool.q.bias",
                    "attn_pool.kv.weight", "attn_pool.kv.bias",  "attn_pool.proj",
                    "attn_pool.norm",      "attn_pool.mlp.fc1",  "attn_pool.mlp.fc2"};
  return layout;
}

// timm's DINOv3, of its EVA class: networks whose biases of queries, keys and values are zero may lack them.
VitLayout timm_dinov3(const EncoderTensors& tensors) {
  VitLayout layout;
  layout.program = "timm";
  layout.registers = "reg_token";
  layout.scale1 = "gamma_1";
  layout.scale2 = "gamma_2";
  layout.qkv_bias.clear();
  if (has(tensors, "blocks.0.attn.q_bias")) {
    layout.query_bias = "attn.q_bias";
    layout.value_bias = "attn.v_bias";
  }
  if (has(tensors, "blocks.0.mlp.fc1_g.weight")) {
    layout.gate = "mlp.fc1_g";
    layout.fc1 = "mlp.fc1_x";
  }
  return layout;
}

VitLayout dinov3_layout(const EncoderTensors& tensors) {
  VitLayout layout;
  if (has(tensors, "reg_token")) {
    layout = timm_dinov3(tensors);
  } else if (has(tensors, "embeddings.patch_embeddings.weight")) {
    layout.program = "transformers";
    layout.patch = "embeddings.patch_embeddings";
    layout.class_token = "embeddings.cls_token";
    layout.registers = "embeddings.register_tokens";
    layout.blocks = "layer.";
    layout.qkv_weight.clear();
    layout.query = "attention.q_proj";
    layout.key = "attention.k_proj";
    layout.value = "attention.v_proj";
    layout.out = "attention.o_proj";
    layout.scale1 = "layer_scale1.lambda1";
    layout.scale2 = "layer_scale2.lambda1";
    layout.fc1 = "mlp.up_proj";
    layout.fc2 = "mlp.down_proj";
    if (has(tensors, "layer.0.mlp.gate_proj.weight")) layout.gate = "mlp.gate_proj";
  } else {
    layout = block_names(tensors);
    layout.program = "DINOv3";
    layout.registers = "storage_tokens";
    if (has(tensors, "blocks.0.attn.qkv.bias_mask")) layout.qkv_bias_mask = "attn.qkv.bias_mask";
    if (has(tensors, "blocks.0.mlp.w1.weight")) {
      layout.gate = "mlp.w1";
      layout.fc1 = "mlp.w2";
      layout.fc2 = "mlp.w3";
    }
    if (has(tensors, "rope_embed.periods")) layout.rotary_periods = "rope_embed.periods";
  }
  layout.positions.clear();
  layout.rotary = true;
  layout.epsilon = 1e-5F;
  return layout;
}

}  // namespace

VitLayout vit_layout(const Architecture& architecture, const EncoderTensors& tensors) {
  switch (architecture.family) {
    case NetworkFamily::kClipVit:
      return clip_layout(tensors);
    case NetworkFamily::kSiglip:
      return siglip_layout(tensors);
    case NetworkFamily::kDinov3Vit:
      return dinov3_layout(tensors);
    default:
      return plain_layout(tensors);
  }
}

}  // namespace annulus
