// What `make lint` asks of the explorer's JavaScript; TypeScript checks names and types (tests/explorer).
const errors = `
  array-callback-return constructor-super default-case-last eqeqeq for-direction getter-return no-async-promise-executor
  no-class-assign no-compare-neg-zero no-cond-assign no-const-assign no-constant-binary-expression
  no-constant-condition no-control-regex no-dupe-args no-dupe-class-members no-dupe-else-if no-dupe-keys
  no-duplicate-case no-duplicate-imports no-else-return no-empty no-empty-character-class no-empty-pattern no-eval
  no-ex-assign no-extend-native no-extra-boolean-cast no-fallthrough no-func-assign no-implied-eval no-import-assign
  no-invalid-regexp no-irregular-whitespace no-loss-of-precision no-misleading-character-class no-new-wrappers
  no-promise-executor-return no-prototype-builtins no-regex-spaces no-return-assign no-self-assign
  no-self-compare no-setter-return no-shadow-restricted-names no-sparse-arrays no-template-curly-in-string
  no-this-before-super no-throw-literal no-unexpected-multiline no-unmodified-loop-condition no-unreachable
  no-unreachable-loop no-unsafe-finally no-unsafe-negation no-unsafe-optional-chaining no-unused-private-class-members
  no-useless-backreference no-useless-catch no-useless-computed-key no-useless-concat no-useless-escape
  no-useless-rename no-useless-return no-var object-shorthand prefer-const prefer-template require-yield use-isnan
  valid-typeof`;

export default [
  {
    files: ["teachconv/explorer/script/*.js", "docs/search_ranking.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...Object.fromEntries(errors.trim().split(/\s+/).map((name) => [name, "error"])),
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // it finds "constructor" in every object
      "no-restricted-syntax": ["error", { selector: "BinaryExpression[operator='in']", message: "Use Object.hasOwn." }],
    },
  },
  {
    files: ["teachconv/explorer/script/law.js"], // made from Python: None is null or undefined, and a pattern has names that stay
    rules: { eqeqeq: ["error", "always", { null: "ignore" }], "prefer-const": ["error", { destructuring: "all" }] },
  },
];
