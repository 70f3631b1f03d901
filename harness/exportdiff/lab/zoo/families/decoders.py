"""Language models that continue a text."""

from __future__ import annotations

from exportdiff.lab.zoo.families.family import LAYERS, VOCABULARY, Family, prompt

_OLD = {"vocab_size": VOCABULARY, "use_cache": False, "bos_token_id": 1, "eos_token_id": 2}
_NEW = _OLD | LAYERS | {"max_position_embeddings": 16}
_GATED = {**_NEW, "intermediate_size": 16, "num_key_value_heads": 1}
_PAD = {"pad_token_id": 0}

FAMILIES = (
    Family(
        "gpt2", "GPT2LMHeadModel", prompt, _OLD | {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16}
    ),
    Family(
        "gpt_neo",
        "GPTNeoForCausalLM",
        prompt,
        _OLD
        | {
            "hidden_size": 16,
            "num_layers": 2,
            "num_heads": 2,
            "max_position_embeddings": 16,
            "window_size": 4,
            "attention_types": [[["global", "local"], 1]],
        },
    ),
    Family(
        "gptj",
        "GPTJForCausalLM",
        prompt,
        _OLD | {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16, "rotary_dim": 4},
    ),
    Family("gpt_neox", "GPTNeoXForCausalLM", prompt, _NEW | {"intermediate_size": 16}),
    Family("llama", "LlamaForCausalLM", prompt, _GATED),
    Family("mistral", "MistralForCausalLM", prompt, _GATED | {"sliding_window": 4}),
    Family(
        "mixtral", "MixtralForCausalLM", prompt, _GATED | {"num_local_experts": 2, "num_experts_per_tok": 1}
    ),
    Family("qwen2", "Qwen2ForCausalLM", prompt, _GATED),
    Family("qwen3", "Qwen3ForCausalLM", prompt, _GATED | {"head_dim": 8}),
    Family("gemma", "GemmaForCausalLM", prompt, _GATED | _PAD | {"head_dim": 8}),
    Family("gemma2", "Gemma2ForCausalLM", prompt, _GATED | _PAD | {"head_dim": 8, "sliding_window": 4}),
    Family("phi", "PhiForCausalLM", prompt, _NEW | {"intermediate_size": 16}),
    Family("phi3", "Phi3ForCausalLM", prompt, _GATED | _PAD),
    Family("olmo2", "Olmo2ForCausalLM", prompt, _GATED | _PAD),
    Family("stablelm", "StableLmForCausalLM", prompt, _GATED),
    Family(
        "opt",
        "OPTForCausalLM",
        prompt,
        _NEW | _PAD | {"ffn_dim": 16, "word_embed_proj_dim": 16},
    ),
    Family("bloom", "BloomForCausalLM", prompt, _OLD | {"hidden_size": 16, "n_layer": 2, "n_head": 2}),
    Family("falcon", "FalconForCausalLM", prompt, _OLD | LAYERS),
    Family(
        "mpt",
        "MptForCausalLM",
        prompt,
        _OLD | {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_seq_len": 16},
    ),
    Family(
        "mamba",
        "MambaForCausalLM",
        prompt,
        _OLD | _PAD | {"hidden_size": 16, "num_hidden_layers": 2, "state_size": 4, "conv_kernel": 2},
    ),
)
