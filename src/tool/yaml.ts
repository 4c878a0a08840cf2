export { type LinePlace, parseYaml, type YamlDocument } from '../canonical/yaml.ts';
