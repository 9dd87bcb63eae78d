"""All the ways to name an agent, in the words that help and errors use."""

AGENT_FORMS = (
    "random, tsumogiri or ukeire; a folder of checkpoints, such as runs/<run>/supervised, or the s3:// address of one; "
    "models:/NAME@ALIAS or models:/NAME/VERSION; behind any of these nets perhaps :weak, :matched or :sampled; "
    "adapt:NETS, adapt-K:NETS or adapt-K+Ts:NETS (K rollouts a kyoku, T seconds a later discard); "
    "mjai:COMMAND LINE or mjai-S:COMMAND LINE (an outside program with S seconds a move)"
)
