# A template: `pack.sh` fills in version, repository and checksums.
class Gpulint < Formula
  desc "Finds wasted GPU money in Terraform, Kubernetes, CloudFormation, ARM/Bicep and Pulumi before it is deployed"
  homepage "https://github.com/@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/gpulint-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/gpulint-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/gpulint-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/gpulint-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "gpulint"
    bash_completion.install "completions/gpulint.bash" => "gpulint"
    zsh_completion.install "completions/gpulint.zsh" => "_gpulint"
    fish_completion.install "completions/gpulint.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    (testpath/"main.tf").write("")
    assert_match version.to_s, shell_output("#{bin}/gpulint --version")
    system bin/"gpulint", "check", "--allow-empty", testpath
  end
end
