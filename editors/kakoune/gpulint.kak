# For `kakrc`, with kakoune-lsp: gpulint beside the servers that a file has already.

hook global BufCreate .*[.](tf|tofu|tfvars|hcl|yaml|yml|tpl) %{
    set-option -add buffer lsp_servers %{
        [gpulint]
        args = ["server"]
        root_globs = ["gpulint.toml", ".git"]
    }
}
