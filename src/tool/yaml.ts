export { type Place, parseYaml, type YamlDocument } from '../canonical/yaml.ts';
