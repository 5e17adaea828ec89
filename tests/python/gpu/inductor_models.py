# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and losses for `python -m smelt.compat.inductor check inductor_models.py`: small ones of the kinds that people compile. Wants PyTorch;
those of transformers and torchvision are left out where these are not installed."""

import importlib.util

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
cases = {}


def add(name, model, *args):
    if isinstance(model, nn.Module):
        module = model.eval()

        def model(*inputs):
            with torch.no_grad():
                return module(*inputs)

    cases[name] = (model, args)


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Scan(nn.Module):
    """A state-space layer, step by step."""

    def forward(self, x, decay):
        state, out = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            state = state * torch.sigmoid(decay) + x[:, t]
            out.append(state * F.silu(x[:, t]))
        return torch.stack(out, 1)


def rms_norm(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w


def rope(x):
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] / 10000 ** (torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


x = torch.randn(4, 33, 64)
labels = torch.randint(0, 10, (12,))
labels[3] = -100
add("pointwise", lambda a, b: torch.tanh(a) * b + torch.erf(a) - b.abs().sqrt(), torch.randn(1000), torch.randn(1000))
add("half", lambda a: F.silu(a) * 2 + a.exp(), torch.randn(513).half())
add("bfloat", lambda a: F.gelu(a) + a * 0.5, torch.randn(513).bfloat16())
add("sum of everything", lambda a: a.sum(), torch.randn(700))
add("mean, var, max", lambda a: (a.mean(-1), a.var(-1), a.amax(-1), a.argmax(-1)), torch.randn(20, 300))
add("any, all", lambda a: ((a > 2).any(-1), (a > -5).all(-1)), torch.randn(20, 300))
add("nansum, nanmean", lambda a: (a.nansum(), a.nanmean()), torch.tensor([1.0, float("nan"), 3.0]))
add("integers", lambda a: (a * 3 // 7, a % 5, a << 2, a.sum()), torch.randint(-50, 50, (400,)))
add("cumsum", lambda a: a.cumsum(-1), torch.randn(5, 200))
add("softmax", lambda a: F.softmax(a, -1), torch.randn(8, 1000))
add("layer norm", nn.LayerNorm(300), torch.randn(17, 300))
add("group norm", nn.GroupNorm(4, 16), torch.randn(2, 16, 9, 9))
add("rms norm", rms_norm, x, torch.ones(64))
add("rope", rope, torch.randn(2, 4, 16, 32))
add("cross entropy", F.cross_entropy, torch.randn(12, 10), labels)
add("nll loss", F.nll_loss, torch.randn(4, 10).log_softmax(-1), labels[4:8])
add("mse, l1, huber", lambda a, b: (F.mse_loss(a, b), F.l1_loss(a, b), F.huber_loss(a, b)), torch.randn(300), torch.randn(300))
add("bce", F.binary_cross_entropy_with_logits, torch.randn(300), torch.rand(300))
add("gather, scatter", lambda a, i: (a.gather(1, i), torch.zeros_like(a).scatter_add(1, i, a)), x[0], torch.randint(0, 64, (33, 64)))
add("index", lambda a, i: a[i] + a[i].sum(), torch.randn(50, 8), torch.randint(0, 50, (9,)))
add("where, clamp", lambda a: torch.where(a > 0, a, a.clamp(-0.5, 0.5)), torch.randn(900))
add("pooling", lambda a: (F.max_pool2d(a, 2), F.avg_pool2d(a, 3, 1, 1)), torch.randn(2, 3, 16, 16))
add("interpolate", lambda a: F.interpolate(a, scale_factor=2.0, mode="bilinear"), torch.randn(1, 3, 8, 8))
add("lgamma, digamma", lambda a: (torch.lgamma(a), torch.digamma(a)), torch.randn(200) * 4)
add("bessel", lambda a: (torch.special.bessel_j0(a), torch.special.i0(a)), torch.randn(200))
add("embedding", nn.Embedding(100, 32), torch.randint(0, 100, (6, 7)))
add("mlp", nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)), x)
add("transformer block", Block(), x)
add("scan", Scan(), torch.randn(2, 12, 16), torch.randn(16))
add("lstm cell", nn.LSTMCell(32, 32), torch.randn(4, 32))
add("conv, norm", nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()), torch.randn(2, 3, 12, 12))


def training(model, *args):
    """Loss and gradients of one step."""

    def step(*inputs):
        loss = model(*inputs).float().pow(2).mean()
        return (loss, *torch.autograd.grad(loss, list(model.parameters())))

    return step, args


cases["training: mlp"] = training(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 8)), x)
cases["training: block"] = training(Block().eval(), x)

if importlib.util.find_spec("transformers") is not None:
    import transformers as hf

    tokens = torch.randint(0, 128, (2, 17))
    size = dict(vocab_size=128, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)

    def logits(model, **more):
        model = model.eval()

        def run(ids):
            with torch.no_grad():
                made = model(ids, **more)
            return made.logits if hasattr(made, "logits") else made.last_hidden_state

        return run

    add("Llama", logits(hf.LlamaForCausalLM(hf.LlamaConfig(**size, num_key_value_heads=2))), tokens)
    add("Mistral", logits(hf.MistralForCausalLM(hf.MistralConfig(**size, num_key_value_heads=2))), tokens)
    add("Qwen2", logits(hf.Qwen2ForCausalLM(hf.Qwen2Config(**size, num_key_value_heads=2))), tokens)
    add("GPT-2", logits(hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=128, n_embd=64, n_layer=2, n_head=4))), tokens)
    add("BERT", logits(hf.BertForMaskedLM(hf.BertConfig(**size))), tokens)
    t5 = hf.T5Model(hf.T5Config(vocab_size=128, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)).eval()
    add("T5", logits(t5, decoder_input_ids=tokens), tokens)
    vit = hf.ViTModel(hf.ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8))
    add("ViT", logits(vit), torch.randn(1, 3, 32, 32))
    add("RoBERTa", logits(hf.RobertaForMaskedLM(hf.RobertaConfig(**size, max_position_embeddings=64))), tokens)
    add("DistilBERT", logits(hf.DistilBertForMaskedLM(hf.DistilBertConfig(vocab_size=128, dim=64, n_layers=2, n_heads=4, hidden_dim=128))), tokens)
    add("OPT", logits(hf.OPTForCausalLM(hf.OPTConfig(**{**size, "ffn_dim": 128, "word_embed_proj_dim": 64}))), tokens)
    add("Mamba", logits(hf.MambaForCausalLM(hf.MambaConfig(vocab_size=128, hidden_size=32, num_hidden_layers=2, state_size=8))), tokens[:, :9])
    tower = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    clip = hf.CLIPModel(
        hf.CLIPConfig(text_config={**tower, "vocab_size": 128, "eos_token_id": 127, "bos_token_id": 126, "pad_token_id": 1},
                      vision_config={**tower, "image_size": 32, "patch_size": 8}, projection_dim=32)
    ).eval()  # fmt: skip

    def clip_logits(ids, image):
        with torch.no_grad():
            return clip(input_ids=ids, pixel_values=image).logits_per_image

    add("CLIP", clip_logits, tokens, torch.randn(2, 3, 32, 32))
    speech = hf.WhisperConfig(vocab_size=128, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                              encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=32, max_target_positions=32, num_mel_bins=16,
                              pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)  # fmt: skip
    add("Whisper", logits(hf.WhisperModel(speech).eval(), decoder_input_ids=tokens), torch.randn(2, 16, 64))
    causal = hf.LlamaForCausalLM(hf.LlamaConfig(**size)).eval()
    add("causal loss", lambda ids: causal(ids, labels=ids).loss.detach(), tokens)

    def causal_step(model):
        model = model.eval()

        def step(ids):
            loss = model(ids, labels=ids).loss
            return (loss, *torch.autograd.grad(loss, list(model.parameters())))

        return step

    cases["training: Llama"] = causal_step(hf.LlamaForCausalLM(hf.LlamaConfig(**size))), (tokens,)
    cases["training: GPT-2"] = causal_step(hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=128, n_embd=64, n_layer=2, n_head=4))), (tokens,)

if importlib.util.find_spec("torchvision") is not None:
    import torchvision

    add("ResNet-18", torchvision.models.resnet18(), torch.randn(1, 3, 64, 64))
    add("MobileNetV3", torchvision.models.mobilenet_v3_small(), torch.randn(1, 3, 64, 64))
    add("EfficientNet", torchvision.models.efficientnet_b0(), torch.randn(1, 3, 64, 64))
    add("ConvNeXt", torchvision.models.convnext_tiny(), torch.randn(1, 3, 64, 64))
